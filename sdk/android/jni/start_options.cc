#include "sdk/android/jni/start_options.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>

namespace jankbox {
namespace {

struct Field {
  const char* name;
  size_t offset;
  bool is_text;
};

#define JANKBOX_NUMBER(name) \
  { #name, offsetof(jankbox_options, name), false }
#define JANKBOX_TEXT(name) \
  { #name, offsetof(jankbox_options, name), true }

constexpr Field kFields[] = {
    JANKBOX_NUMBER(flags),
    JANKBOX_TEXT(dir),
    JANKBOX_TEXT(app_name),
    JANKBOX_TEXT(app_version),
    JANKBOX_TEXT(upload_url),
    JANKBOX_NUMBER(window_ms),
    JANKBOX_NUMBER(ring_bytes),
    JANKBOX_NUMBER(slow_message_ms),
    JANKBOX_NUMBER(anr_ms),
    JANKBOX_NUMBER(jank_dropped_frames),
    JANKBOX_NUMBER(sample_interval_ms),
    JANKBOX_NUMBER(min_free_mib),
    JANKBOX_NUMBER(cpu_budget_permille),
    JANKBOX_NUMBER(record),
    JANKBOX_NUMBER(markers),
    JANKBOX_TEXT(atrace),
    JANKBOX_NUMBER(sources),
    JANKBOX_NUMBER(ftrace),
    JANKBOX_NUMBER(ftrace_buffer_kib),
    JANKBOX_NUMBER(reports_a_day),
    JANKBOX_NUMBER(repeats),
    JANKBOX_NUMBER(lag_ms),
    JANKBOX_NUMBER(anr_background_ms),
    JANKBOX_NUMBER(sigquit),
    JANKBOX_TEXT(watch_threads),
    JANKBOX_NUMBER(input_latency_ms),
    JANKBOX_NUMBER(history_messages),
    JANKBOX_NUMBER(frame_policy),
    JANKBOX_NUMBER(frame_sources),
    JANKBOX_NUMBER(cold_start_ms),
    JANKBOX_NUMBER(warm_start_ms),
    JANKBOX_TEXT(config_file),
};

bool ParseNumber(const std::string& text, uint32_t* number) {
  if (text == "max") {
    *number = UINT32_MAX;
    return true;
  }
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = strtoull(text.c_str(), &end, 10);
  if (errno != 0 || *end != '\0' || value > UINT32_MAX) return false;
  *number = static_cast<uint32_t>(value);
  return true;
}

}  // namespace

bool StartOptions::Set(const std::string& name, const std::string& value) {
  for (const Field& field : kFields) {
    if (name != field.name) continue;
    auto* place = reinterpret_cast<char*>(&options_) + field.offset;
    if (field.is_text) {
      texts_.push_back(value);
      *reinterpret_cast<const char**>(place) = texts_.back().c_str();
      return true;
    }
    if (ParseNumber(value, reinterpret_cast<uint32_t*>(place))) return true;
    error_ = name + " is not a number: " + value;
    return false;
  }
  error_ = "there is no option " + name;
  return false;
}

bool StartOptions::SetAll(const std::vector<std::string>& names_and_values) {
  for (size_t i = 0; i + 1 < names_and_values.size(); i += 2) {
    if (!Set(names_and_values[i], names_and_values[i + 1])) return false;
  }
  return true;
}

}  // namespace jankbox
