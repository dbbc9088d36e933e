#include "sdk/api/thresholds.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/clock.h"

namespace jankbox {
namespace {

struct Field {
  const char* name;
  uint32_t jankbox_options::*given;
  uint32_t least;  // the same ranges as at the start
  uint32_t most;
  uint64_t Thresholds::*ns;
  uint32_t Thresholds::*count;
};

constexpr Field kFields[] = {
    {"slow_message_ms", &jankbox_options::slow_message_ms, 10, 600'000,
     &Thresholds::slow_message_ns, nullptr},
    {"lag_ms", &jankbox_options::lag_ms, 10, 3'600'000, &Thresholds::lag_ns, nullptr},
    {"anr_ms", &jankbox_options::anr_ms, 10, 3'600'000, &Thresholds::anr_ns, nullptr},
    {"anr_background_ms", &jankbox_options::anr_background_ms, 10, 3'600'000,
     &Thresholds::anr_background_ns, nullptr},
    {"cold_start_ms", &jankbox_options::cold_start_ms, 100, 3'600'000, &Thresholds::cold_start_ns,
     nullptr},
    {"warm_start_ms", &jankbox_options::warm_start_ms, 100, 3'600'000, &Thresholds::warm_start_ns,
     nullptr},
    {"jank_dropped_frames", &jankbox_options::jank_dropped_frames, 1, 10'000, nullptr,
     &Thresholds::jank_dropped_frames},
};

Status Invalid(const std::string& what) { return Status(StatusCode::kInvalidArgument, what); }

// Whether anything but thresholds is given.
bool HasOthers(jankbox_options given) {
  for (const Field& field : kFields) given.*field.given = 0;
  given.size = 0;
  const jankbox_options nothing{};
  return memcmp(&given, &nothing, sizeof(nothing)) != 0;
}

}  // namespace

uint32_t* ThresholdField(std::string_view name, jankbox_options* options) {
  for (const Field& field : kFields) {
    if (name == field.name) return &(options->*field.given);
  }
  return nullptr;
}

std::string ThresholdNames() {
  std::string names;
  for (const Field& field : kFields) {
    if (!names.empty()) names += ", ";
    names += field.name;
  }
  return names;
}

Result<Thresholds> ChangeThresholds(const Thresholds& now, const jankbox_options& given) {
  if (HasOthers(given)) {
    return Invalid("while Jankbox records only these can be changed: " + ThresholdNames());
  }
  Thresholds changed = now;
  for (const Field& field : kFields) {
    const uint32_t value = given.*field.given;
    if (value == 0) continue;
    if (value < field.least || value > field.most) {
      char why[96];
      snprintf(why, sizeof(why), "%s is %u: must be %u to %u", field.name, value, field.least,
               field.most);
      return Invalid(why);
    }
    if (field.ns != nullptr) {
      changed.*field.ns = value * kNsPerMs;
    } else {
      changed.*field.count = value;
    }
  }
  // An ANR is always the slowest.
  changed.lag_ns = std::max(changed.lag_ns, changed.slow_message_ns);
  changed.anr_ns = std::max(changed.anr_ns, changed.slow_message_ns);
  changed.anr_background_ns = std::max(changed.anr_background_ns, changed.anr_ns);
  return changed;
}

}  // namespace jankbox
