#include "tracer/event/marker_text.h"

#include <charconv>

namespace jankbox {
namespace {

// Takes what is before the next bar off the front of `rest`; all of it if there is none.
std::string_view TakePart(std::string_view* rest) {
  const size_t bar = rest->find('|');
  const std::string_view part = rest->substr(0, bar);
  rest->remove_prefix(bar == std::string_view::npos ? rest->size() : bar + 1);
  return part;
}

// Splits the number after the last bar off the end: names may contain bars.
bool TakeNumber(std::string_view* rest, int64_t* value) {
  const size_t bar = rest->rfind('|');
  if (bar == std::string_view::npos) return false;
  const std::string_view digits = rest->substr(bar + 1);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), *value);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) return false;
  *rest = rest->substr(0, bar);
  return true;
}

std::string_view WithoutLineEnd(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.remove_suffix(1);
  return text;
}

}  // namespace

MarkerKind KindOfMarker(std::string_view text) {
  constexpr std::string_view kKinds = "BECSFGHIN";
  if (text.empty() || kKinds.find(text[0]) == std::string_view::npos) return MarkerKind::kUnknown;
  const bool whole = text.size() == 1 || text[1] == '|' || text[1] == '\n';
  if (!whole || (text.size() == 1 && text[0] != 'E')) return MarkerKind::kUnknown;
  return static_cast<MarkerKind>(text[0]);
}

MarkerParts ParseMarker(std::string_view text) {
  text = WithoutLineEnd(text);
  MarkerParts parts;
  const MarkerKind kind = KindOfMarker(text);
  if (kind == MarkerKind::kUnknown) return parts;
  std::string_view rest = text.substr(text.size() == 1 ? 1 : 2);
  TakePart(&rest);  // the pid: the writer's, which we are
  bool good = true;
  switch (kind) {
    case MarkerKind::kCounter:
    case MarkerKind::kAsyncBegin:
    case MarkerKind::kAsyncEnd:
      good = TakeNumber(&rest, &parts.value);
      break;
    case MarkerKind::kTrackBegin:
    case MarkerKind::kTrackEnd:
      good = TakeNumber(&rest, &parts.value);
      parts.track = TakePart(&rest);
      break;
    case MarkerKind::kTrackInstant:
      parts.track = TakePart(&rest);
      break;
    default:
      break;
  }
  if (!good) return {};
  parts.kind = kind;
  parts.name = rest;
  return parts;
}

}  // namespace jankbox
