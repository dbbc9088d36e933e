// The events as a window of the ring, and the SDK's own snapshot of it: the very code that seals a
// report. One thread.
#ifndef JANKBOX_BENCH_SNAPSHOT_ENCODE_OUR_ENCODER_H_
#define JANKBOX_BENCH_SNAPSHOT_ENCODE_OUR_ENCODER_H_

#include <cstdint>
#include <string>

#include "bench/snapshot_encode/workload.h"
#include "tracer/snapshot/snapshot.h"

namespace jankbox::bench {

class OurEncoder {
 public:
  explicit OurEncoder(const Workload& workload);

  // The trace, zstd-1, streamed into memory that is kept; `time_unit_ns` 1 or 128. Throws
  // std::runtime_error if slices are missing.
  const std::string& Encode(uint32_t time_unit_ns);

 private:
  uint64_t slices_;
  RingWindow window_;
  MethodNames names_;
  SnapshotInput input_;
  std::string out_;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_SNAPSHOT_ENCODE_OUR_ENCODER_H_
