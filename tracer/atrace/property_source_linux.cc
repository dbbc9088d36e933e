#include <unistd.h>

#include <utility>

#include "base/file.h"
#include "tracer/atrace/property_source.h"

namespace jankbox {
namespace {

constexpr size_t kMaxFileBytes = 64 << 10;

bool ConcernsAtrace(std::string_view line) {
  return line.starts_with("debug.atrace.") || line.starts_with(kDebuggableProperty);
}

// Other threads may change the environment: to be called if the program says that it does not.
PropertyValues FromEnvironment() {
  std::string text;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (ConcernsAtrace(*entry)) text.append(*entry).append("\n");
  }
  size_t refused = 0;
  return ParseProperties(text, &refused);
}

}  // namespace

PropertySource::PropertySource(std::string path) : path_(std::move(path)) {
  if (path_.empty()) values_ = FromEnvironment();
}

bool PropertySource::LibraryReadsThem() { return false; }

// The text itself is compared: a time of change does not say two changes within one kernel tick.
Result<bool> PropertySource::Refresh() {
  if (path_.empty()) return false;
  size_t refused = 0;
  PropertyValues now;
  const Result<std::string> text = ReadFile(path_, kMaxFileBytes);
  if (text.ok()) {
    now = ParseProperties(text.value(), &refused);
  } else if (text.status().code() != StatusCode::kNotFound) {
    return text.status();
  }
  const bool changed = now != values_;
  values_ = std::move(now);
  return changed;
}

}  // namespace jankbox
