// From when on something is too slow: the options that may change while Jankbox records. Pure.
#ifndef JANKBOX_SDK_API_THRESHOLDS_H_
#define JANKBOX_SDK_API_THRESHOLDS_H_

#include <cstdint>

namespace jankbox {

struct Thresholds {
  uint64_t slow_message_ns = 0;
  uint64_t slow_method_ns = 0;  // 0: off
  uint64_t lag_ns = 0;
  uint64_t anr_ns = 0;
  uint64_t anr_background_ns = 0;
  uint64_t cold_start_ns = 0;
  uint64_t warm_start_ns = 0;
  uint32_t jank_dropped_frames = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_THRESHOLDS_H_
