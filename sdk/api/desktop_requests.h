// What a developer's desktop asks of this app by system properties "debug.jankbox.*"
// (docs/guides/adb.md): options under the names that they have in jankbox_options, thresholds also
// while the app runs, and a snapshot. Pure; allocates. Threads: one.
#ifndef JANKBOX_SDK_API_DESKTOP_REQUESTS_H_
#define JANKBOX_SDK_API_DESKTOP_REQUESTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "jankbox/jankbox.h"
#include "sdk/api/thresholds.h"
#include "tracer/atrace/atrace_tags.h"

namespace jankbox {

inline constexpr std::string_view kDesktopPrefix = "debug.jankbox.";  // + an option's name
// The process that is meant, as its command line says ("com.example.app", "com.example.app:web");
// empty: every one that records.
inline constexpr std::string_view kDesktopAppProperty = "debug.jankbox.app";
// A snapshot is asked for each time this changes to something that is not empty.
inline constexpr std::string_view kDesktopSnapshotProperty = "debug.jankbox.snapshot";
// What the report of such a snapshot says: this, then the property's value.
inline constexpr std::string_view kDesktopSnapshotReason = "desktop ";

// The field of that name, null where properties cannot set it. Numbers only: folders and URLs are
// not the desktop's to say, what leaves the device stays the app's decision.
uint32_t* DesktopOption(std::string_view name, jankbox_options* options);
std::vector<std::string_view> DesktopOptionNames();

// True where the option is a threshold, which holds at once; the others are read at the start.
bool HoldsAtOnce(std::string_view option);

// The fields that `properties` set for `process`. kInvalidArgument names a property that is no
// number above 0; `options` stays as it is then.
Status AddDesktopOptions(const PropertyValues& properties, std::string_view process,
                         jankbox_options* options);

// What is new.
struct DesktopAsk {
  jankbox_options thresholds{};  // for jankbox_configure(); `size` 0: none
  std::string snapshot;          // its reason; empty: none
};

class DesktopRequests {
 public:
  // What stands in `now` already is not asked for. `at_start`: thresholds that come back where a
  // property is taken away.
  DesktopRequests(std::string process, const Thresholds& at_start, const PropertyValues& now);

  std::optional<DesktopAsk> Look(const PropertyValues& now);

 private:
  const std::string process_;
  const jankbox_options at_start_;
  jankbox_options thresholds_;  // as asked for last
  std::string snapshot_;        // the same
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_DESKTOP_REQUESTS_H_
