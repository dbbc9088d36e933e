// The SDK started as an app would start it, for a bench's own process, with its reports in a
// temporary folder; stopped with the object. Settled means that its threads have grown the ring and
// wait. One at a time.
#ifndef JANKBOX_BENCH_HARNESS_RECORDING_H_
#define JANKBOX_BENCH_HARNESS_RECORDING_H_

#include <cstdint>
#include <string>

namespace jankbox::bench {

class Recording {
 public:
  // Throws std::runtime_error where the SDK does not start. Reports go to `folder`.
  Recording(const std::string& folder, uint32_t ring_bytes);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_HARNESS_RECORDING_H_
