#include "tracer/atrace/property_source.h"

namespace jankbox {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool SetLine(std::string_view line, PropertyValues* values) {
  const size_t equals = line.find('=');
  return equals != std::string_view::npos &&
         values->Set(Trim(line.substr(0, equals)), Trim(line.substr(equals + 1)));
}

}  // namespace

PropertyValues ParseProperties(std::string_view text, size_t* refused) {
  PropertyValues values;
  *refused = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = Trim(text.substr(0, end));
    const bool passed_over = line.empty() || line.front() == '#';
    if (!passed_over && !SetLine(line, &values)) ++*refused;
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return values;
}

bool IsPlainAbsolutePath(std::string_view path) {
  if (path.empty() || path.front() != '/') return false;
  while (!path.empty()) {
    const size_t end = path.find('/');
    if (path.substr(0, end) == "..") return false;
    if (end == std::string_view::npos) break;
    path.remove_prefix(end + 1);
  }
  return true;
}

}  // namespace jankbox
