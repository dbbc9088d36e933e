#include "sdk/api/desktop_requests.h"

#include <charconv>
#include <utility>

#include "base/clock.h"

namespace jankbox {
namespace {

struct Field {
  std::string_view name;
  uint32_t jankbox_options::*value;
};

constexpr Field kFields[] = {
    {"window_ms", &jankbox_options::window_ms},
    {"ring_bytes", &jankbox_options::ring_bytes},
    {"slow_message_ms", &jankbox_options::slow_message_ms},
    {"lag_ms", &jankbox_options::lag_ms},
    {"anr_ms", &jankbox_options::anr_ms},
    {"anr_background_ms", &jankbox_options::anr_background_ms},
    {"cold_start_ms", &jankbox_options::cold_start_ms},
    {"warm_start_ms", &jankbox_options::warm_start_ms},
    {"input_latency_ms", &jankbox_options::input_latency_ms},
    {"jank_dropped_frames", &jankbox_options::jank_dropped_frames},
    {"frame_policy", &jankbox_options::frame_policy},
    {"frame_sources", &jankbox_options::frame_sources},
    {"sample_interval_ms", &jankbox_options::sample_interval_ms},
    {"history_messages", &jankbox_options::history_messages},
    {"record", &jankbox_options::record},
    {"markers", &jankbox_options::markers},
    {"sources", &jankbox_options::sources},
    {"sigquit", &jankbox_options::sigquit},
    {"ftrace", &jankbox_options::ftrace},
    {"ftrace_buffer_kib", &jankbox_options::ftrace_buffer_kib},
    {"cpu_budget_permille", &jankbox_options::cpu_budget_permille},
    {"min_free_mib", &jankbox_options::min_free_mib},
    {"repeats", &jankbox_options::repeats},
    {"reports_a_day", &jankbox_options::reports_a_day},
};

std::string PropertyOf(const Field& field) {
  return std::string(kDesktopPrefix).append(field.name);
}

bool Concerns(const PropertyValues& properties, std::string_view process) {
  const std::string_view app = properties.Get(kDesktopAppProperty);
  return app.empty() || app == process;
}

std::optional<uint32_t> ParseNumber(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0) return std::nullopt;
  return value;
}

jankbox_options AsOptions(const Thresholds& thresholds) {
  const auto ms = [](uint64_t ns) { return static_cast<uint32_t>(ns / kNsPerMs); };
  jankbox_options options{};
  options.slow_message_ms = ms(thresholds.slow_message_ns);
  options.lag_ms = ms(thresholds.lag_ns);
  options.anr_ms = ms(thresholds.anr_ns);
  options.anr_background_ms = ms(thresholds.anr_background_ns);
  options.cold_start_ms = ms(thresholds.cold_start_ns);
  options.warm_start_ms = ms(thresholds.warm_start_ns);
  options.jank_dropped_frames = thresholds.jank_dropped_frames;
  return options;
}

// The thresholds among `properties`; what is no number is as if it were not there.
jankbox_options ThresholdsAsked(const PropertyValues& properties, std::string_view process) {
  jankbox_options asked{};
  if (!Concerns(properties, process)) return asked;
  for (const Field& field : kFields) {
    if (!HoldsAtOnce(field.name)) continue;
    asked.*field.value = ParseNumber(properties.Get(PropertyOf(field))).value_or(0);
  }
  return asked;
}

std::string_view SnapshotAsked(const PropertyValues& properties, std::string_view process) {
  if (!Concerns(properties, process)) return {};
  return properties.Get(kDesktopSnapshotProperty);
}

}  // namespace

uint32_t* DesktopOption(std::string_view name, jankbox_options* options) {
  for (const Field& field : kFields) {
    if (name == field.name) return &(options->*field.value);
  }
  return nullptr;
}

std::vector<std::string_view> DesktopOptionNames() {
  std::vector<std::string_view> names;
  for (const Field& field : kFields) names.push_back(field.name);
  return names;
}

bool HoldsAtOnce(std::string_view option) {
  jankbox_options any{};
  return ThresholdField(option, &any) != nullptr;
}

Status AddDesktopOptions(const PropertyValues& properties, std::string_view process,
                         jankbox_options* options) {
  if (!Concerns(properties, process)) return Status::Ok();
  jankbox_options added = *options;
  for (const Field& field : kFields) {
    const std::string property = PropertyOf(field);
    const std::string_view text = properties.Get(property);
    if (text.empty()) continue;
    const std::optional<uint32_t> value = ParseNumber(text);
    if (!value) {
      return Status(StatusCode::kInvalidArgument,
                    property + " is \"" + std::string(text) + "\": no number above 0");
    }
    added.*field.value = *value;
  }
  *options = added;
  return Status::Ok();
}

DesktopRequests::DesktopRequests(std::string process, const Thresholds& at_start,
                                 const PropertyValues& now)
    : process_(std::move(process)),
      at_start_(AsOptions(at_start)),
      thresholds_(ThresholdsAsked(now, process_)),
      snapshot_(SnapshotAsked(now, process_)) {}

std::optional<DesktopAsk> DesktopRequests::Look(const PropertyValues& now) {
  DesktopAsk ask;
  const jankbox_options asked = ThresholdsAsked(now, process_);
  for (const Field& field : kFields) {
    const uint32_t value = asked.*field.value;
    if (value == thresholds_.*field.value) continue;
    ask.thresholds.size = sizeof(ask.thresholds);
    ask.thresholds.*field.value = value != 0 ? value : at_start_.*field.value;
  }
  thresholds_ = asked;
  const std::string_view snapshot = SnapshotAsked(now, process_);
  if (snapshot != snapshot_) {
    snapshot_ = snapshot;
    if (!snapshot.empty()) ask.snapshot = std::string(kDesktopSnapshotReason).append(snapshot);
  }
  if (ask.thresholds.size == 0 && ask.snapshot.empty()) return std::nullopt;
  return ask;
}

}  // namespace jankbox
