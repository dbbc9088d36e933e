// From when on something is too slow: the options that may change while Jankbox records. Pure.
#ifndef JANKBOX_SDK_API_THRESHOLDS_H_
#define JANKBOX_SDK_API_THRESHOLDS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "jankbox/jankbox.h"

namespace jankbox {

struct Thresholds {
  uint64_t slow_message_ns = 0;
  uint64_t lag_ns = 0;
  uint64_t anr_ns = 0;
  uint64_t anr_background_ns = 0;
  uint64_t cold_start_ns = 0;
  uint64_t warm_start_ns = 0;
  uint32_t jank_dropped_frames = 0;
};

// The field of that name, null where it is no threshold. And all names, for messages.
uint32_t* ThresholdField(std::string_view name, jankbox_options* options);
std::string ThresholdNames();

// `now` with the thresholds that `given` names (not zero). kInvalidArgument names the first field
// that is out of its range, or cannot be changed while Jankbox records; nothing is changed then.
Result<Thresholds> ChangeThresholds(const Thresholds& now, const jankbox_options& given);

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_THRESHOLDS_H_
