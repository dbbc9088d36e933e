#include "tracer/atrace/atrace_tags.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace jankbox {
namespace {

constexpr size_t kPropertyValueMax = 92;  // with the zero that ends it
using ValueText = char[kPropertyValueMax];

// strto… need a zero at the end; legal values always fit.
void CopyText(std::string_view text, ValueText& out) {
  out[text.copy(out, sizeof(ValueText) - 1)] = '\0';
}

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         memchr("_.-@:", c, 5) != nullptr;
}

bool IsLegalName(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.back() != '.' &&
         name.find("..") == std::string_view::npos &&
         std::all_of(name.begin(), name.end(), IsNameCharacter);
}

// property_get_bool: these five are true, everything else is false here.
bool IsTrue(std::string_view value) {
  return value == "1" || value == "y" || value == "yes" || value == "on" || value == "true";
}

// property_get_int32: C's notation, what follows the number is ignored, 0 where there is none.
int32_t ParseInt32(std::string_view value) {
  ValueText text;
  CopyText(value, text);
  char* end = nullptr;
  const int saved_errno = errno;
  errno = 0;
  const intmax_t number = strtoimax(text, &end, 0);
  const bool in_range = errno != ERANGE && number >= INT32_MIN && number <= INT32_MAX;
  errno = saved_errno;
  return in_range && end != text ? static_cast<int32_t>(number) : 0;
}

bool AppIsSelected(const AtraceFacts& facts) {
  if (!facts.app_debuggable && !IsTrue(facts.properties->Get(kDebuggableProperty))) return false;
  const int32_t count = AtraceAppCount(*facts.properties);
  for (int32_t i = 0; i < count; ++i) {
    const std::string_view selected = facts.properties->Get(AtraceAppProperty(i));
    if (selected == "*" || selected == facts.cmdline) return true;
  }
  return false;
}

}  // namespace

bool PropertyValues::Set(std::string_view name, std::string_view value) {
  if (!IsLegalName(name) || value.size() >= kPropertyValueMax) return false;
  if (value.find('\n') != value.npos || value.find('\0') != value.npos) return false;
  const std::string key = "\n" + std::string(name) + "=";
  if (const size_t at = lines_.find(key); at != lines_.npos) {
    lines_.erase(at, lines_.find('\n', at + key.size()) - at);
  }
  lines_.append(key, 1).append(value).append("\n");
  return true;
}

std::string_view PropertyValues::Get(std::string_view name) const {
  const std::string key = "\n" + std::string(name) + "=";
  const size_t at = lines_.find(key);
  if (at == lines_.npos) return {};
  const size_t begin = at + key.size();
  return std::string_view(lines_).substr(begin, lines_.find('\n', begin) - begin);
}

int32_t AtraceAppCount(const PropertyValues& properties) {
  return std::clamp(ParseInt32(properties.Get(kAppNumberProperty)), 0, kMaxAtraceApps);
}

std::string AtraceAppProperty(int32_t n) { return std::string(kAppProperty) + std::to_string(n); }

std::optional<uint64_t> ParseTagNumber(std::string_view text) {
  if (text.empty() || text.size() >= kPropertyValueMax) return std::nullopt;
  ValueText copy;
  CopyText(text, copy);
  char* end = nullptr;
  const int saved_errno = errno;
  errno = 0;
  const uint64_t tags = strtoull(copy, &end, 0);
  const bool overflow = errno == ERANGE;
  errno = saved_errno;
  if (*end != '\0' || overflow || tags == ULLONG_MAX) return std::nullopt;
  return tags;
}

uint64_t ComputeAtraceTags(const AtraceFacts& facts) {
  if (!facts.tracing_enabled) return kTagNotReady;
  const std::string_view flags = facts.properties->Get(kEnableFlagsProperty);
  const std::optional<uint64_t> tags = flags.empty() ? 0 : ParseTagNumber(flags);
  if (!tags) return 0;
  const uint64_t app = AppIsSelected(facts) ? kTagApp : 0;
  return ((*tags & ~kTagApp) | app | kTagAlways) & kValidTags;
}

}  // namespace jankbox
