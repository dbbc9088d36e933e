// The SDK started in a bench's own process, with its reports in a folder of the bench's; stopped
// with the object. Its threads have grown the ring and wait. The mode of recording is fixed: the
// governor would take a bench that does nothing but record for a program over its budget. One at a
// time.
#ifndef JANKBOX_BENCH_HARNESS_RECORDING_H_
#define JANKBOX_BENCH_HARNESS_RECORDING_H_

#include <jankbox/jankbox.h>

#include <cstdint>
#include <string>

namespace jankbox::bench {

class Recording {
 public:
  // Throws std::runtime_error if the SDK does not start. Reports go to `folder`.
  // `record` is one of JANKBOX_RECORD_…, `markers` of JANKBOX_MARKERS_….
  Recording(const std::string& folder, uint32_t ring_bytes, uint32_t record = JANKBOX_RECORD_EXACT,
            uint32_t markers = JANKBOX_MARKERS_OFF);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_HARNESS_RECORDING_H_
