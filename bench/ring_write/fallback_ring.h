// The recorder if the machine's counter may not be trusted: a ring in memory that keeps the
// kernel's clock, open as long as the object. Uses the recorder directly, in a program without the
// SDK, because the SDK chooses the clock once a process.
#ifndef JANKBOX_BENCH_RING_WRITE_FALLBACK_RING_H_
#define JANKBOX_BENCH_RING_WRITE_FALLBACK_RING_H_

#include <cstdint>
#include <memory>

#include "tracer/ring/ring_file.h"

namespace jankbox::bench {

class FallbackRing {
 public:
  FallbackRing();  // throws std::runtime_error
  ~FallbackRing();

 private:
  std::unique_ptr<RingFile> ring_;
};

// REQUIRES a FallbackRing.
void FallbackPairs(uint32_t passes);

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_RING_WRITE_FALLBACK_RING_H_
