// What a developer's desktop asks of this app by system properties "debug.jankbox.*"
// (docs/guides/adb.md): options of the table by their names, thresholds also while the app runs,
// and a snapshot. Pure; allocates. Threads: one.
#ifndef JANKBOX_SDK_API_DESKTOP_REQUESTS_H_
#define JANKBOX_SDK_API_DESKTOP_REQUESTS_H_

#include <optional>
#include <string>
#include <string_view>

#include "jankbox/jankbox.h"
#include "sdk/api/option_layers.h"
#include "tracer/atrace/atrace_tags.h"

namespace jankbox {

inline constexpr std::string_view kDesktopPrefix = "debug.jankbox.";  // + an option's name
// The process that is meant, as its command line says ("com.example.app", "com.example.app:web");
// empty: every one that records.
inline constexpr std::string_view kDesktopAppProperty = "debug.jankbox.app";
// A snapshot is asked for each time this changes to something that is not empty.
inline constexpr std::string_view kDesktopSnapshotProperty = "debug.jankbox.snapshot";
// The reason of such a snapshot's report: this, then the property's value.
inline constexpr std::string_view kDesktopSnapshotReason = "desktop ";

// The property that sets an option. REQUIRES row.IsForDeveloper().
std::string DesktopProperty(const OptionRow& row);

// Pins what `properties` set for `process`.
void TakeDesktopOptions(const PropertyValues& properties, std::string_view process,
                        OptionLayers* layers);

// What is new.
struct DesktopAsk {
  // All thresholds that are asked for now, to be pinned; `size` 0: as before.
  jankbox_options thresholds{};
  std::string snapshot;  // its reason; empty: none
};

class DesktopRequests {
 public:
  // What `now` asks for already is not new.
  DesktopRequests(std::string process, const PropertyValues& now);

  std::optional<DesktopAsk> Poll(const PropertyValues& now);

 private:
  jankbox_options ThresholdsAsked(const PropertyValues& properties) const;
  std::string_view SnapshotAsked(const PropertyValues& properties) const;

  const std::string process_;
  jankbox_options thresholds_;  // as asked for last
  std::string snapshot_;        // the same
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_DESKTOP_REQUESTS_H_
