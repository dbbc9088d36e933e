#include "tools/merge/marker_text.h"

#include <charconv>
#include <cmath>

namespace jankbox::tools {
namespace {

constexpr std::string_view kKinds = "BECSFIN";
constexpr std::string_view kOurClock = "jankbox clock ";
constexpr std::string_view kOurMonotonic = " monotonic ";
constexpr std::string_view kParentStamp = "trace_event_clock_sync: parent_ts=";

template <typename Number>
bool ParseLeading(std::string_view text, Number* out) {
  return std::from_chars(text.data(), text.data() + text.size(), *out).ec == std::errc();
}

// Up to the next bar, which is taken away with it.
std::string_view TakeField(std::string_view* text) {
  const size_t bar = std::min(text->find('|'), text->size());
  const std::string_view field = text->substr(0, bar);
  text->remove_prefix(std::min(bar + 1, text->size()));
  return field;
}

}  // namespace

std::optional<MarkerText> ParseMarkerText(std::string_view text) {
  text = text.substr(0, text.find_last_not_of('\n') + 1);
  if (text.empty() || kKinds.find(text[0]) == std::string_view::npos) return std::nullopt;
  if (text.size() > 1 && text[1] != '|') return std::nullopt;
  MarkerText marker{.kind = text[0]};
  text.remove_prefix(std::min<size_t>(2, text.size()));
  const std::string_view pid = TakeField(&text);
  if (!pid.empty() && !ParseLeading(pid, &marker.pid)) return std::nullopt;
  if (marker.kind == 'E') return marker;
  if (pid.empty()) return std::nullopt;
  if (marker.kind == 'N') TakeField(&text);  // the track
  const bool has_value = marker.kind == 'C' || marker.kind == 'S' || marker.kind == 'F';
  marker.name = has_value ? TakeField(&text) : text;
  if (has_value) marker.value = TakeField(&text);
  return marker;
}

std::optional<uint64_t> ParseClockText(std::string_view text) {
  if (text.substr(0, kOurClock.size()) == kOurClock) {
    const size_t at = text.find(kOurMonotonic);
    uint64_t ns;
    if (at != std::string_view::npos && ParseLeading(text.substr(at + kOurMonotonic.size()), &ns)) {
      return ns;
    }
  }
  if (text.substr(0, kParentStamp.size()) == kParentStamp) {
    double seconds;
    if (ParseLeading(text.substr(kParentStamp.size()), &seconds) && seconds >= 0 && seconds < 1e9) {
      return static_cast<uint64_t>(std::llround(seconds * 1e9));
    }
  }
  return std::nullopt;
}

}  // namespace jankbox::tools
