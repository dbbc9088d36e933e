#include "sdk/api/options.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>

#include "base/clock.h"
#include "sdk/api/option_texts.h"
#include "tracer/ring/process_identity.h"

namespace jankbox {
namespace {

// --- From a row's value to its place in Options: the "store" column of the table.

constexpr uint64_t Ms(uint32_t ms) { return ms * kNsPerMs; }
constexpr uint64_t Mib(uint32_t mib) { return uint64_t{mib} << 20; }
constexpr uint32_t NoneIsZero(uint32_t v) { return v == UINT32_MAX ? 0 : v; }

std::optional<RecordMode> FixedMode(uint32_t v) {
  if (v == JANKBOX_RECORD_EXACT) return RecordMode::kExact;
  if (v == JANKBOX_RECORD_COARSE) return RecordMode::kCoarse;
  if (v == JANKBOX_RECORD_UI_ONLY) return RecordMode::kWatchedOnly;
  if (v == JANKBOX_RECORD_OFF) return RecordMode::kOff;
  return std::nullopt;
}

MarkerMode MarkersOf(uint32_t v) {
  if (v == JANKBOX_MARKERS_OFF) return MarkerMode::kOff;
  return v == JANKBOX_MARKERS_KEEP ? MarkerMode::kKeep : MarkerMode::kPassOn;
}

SourceSet SourcesOf(uint32_t v) {
  return {.threads = (v & JANKBOX_SOURCE_THREADS) != 0,
          .io = (v & JANKBOX_SOURCE_IO) != 0,
          .locks = (v & JANKBOX_SOURCE_LOCKS) != 0};
}

FtraceMode FtraceModeOf(uint32_t v) {
  if (v == JANKBOX_FTRACE_OFF) return FtraceMode::kOff;
  return v == JANKBOX_FTRACE_ON ? FtraceMode::kOn : FtraceMode::kAuto;
}

FramePolicy FramePolicyOf(uint32_t v) {
  if (v == JANKBOX_FRAME_POLICY_JANKSTATS) return FramePolicy::kJankStats;
  return v == JANKBOX_FRAME_POLICY_DEADLINE ? FramePolicy::kDeadline : FramePolicy::kBands;
}

FrameHookSet FrameSourcesOf(uint32_t v) {
  return {.choreographer = (v & JANKBOX_FRAMES_CHOREOGRAPHER) != 0,
          .gtk = (v & JANKBOX_FRAMES_GTK) != 0,
          .sdl = (v & JANKBOX_FRAMES_SDL) != 0,
          .swap = (v & JANKBOX_FRAMES_SWAP) != 0};
}

StackSampler::Mode SamplerModeOf(uint32_t v) {
  if (v == JANKBOX_SAMPLER_PERF) return StackSampler::Mode::kPerfOnly;
  if (v == JANKBOX_SAMPLER_PROC) return StackSampler::Mode::kProcOnly;
  return v == JANKBOX_SAMPLER_SIGNAL ? StackSampler::Mode::kSignalOnly : StackSampler::Mode::kAuto;
}

// REQUIRES merged values: every text is set.
Options Store(const jankbox_options& values) {
  Options o;
#define JANKBOX_STORE_NUMBER(name, fallback, least, most, when, store, doc) \
  {                                                                         \
    const uint32_t v = values.name;                                         \
    store;                                                                  \
  }
#define JANKBOX_STORE_WORDS(name, words, fallback, store, doc) \
  {                                                            \
    const uint32_t v = values.name;                            \
    store;                                                     \
  }
#define JANKBOX_STORE_TEXT(name, fallback, variable, check, store, doc) \
  {                                                                     \
    const std::string v = values.name;                                  \
    store;                                                              \
  }
  JANKBOX_OPTION_TABLE(JANKBOX_STORE_NUMBER, JANKBOX_STORE_WORDS, JANKBOX_STORE_WORDS,
                       JANKBOX_STORE_TEXT)
  return o;
}

// --- Checks

Status CheckFields(const jankbox_options& fields) {
  for (const OptionRow& row : OptionRows()) {
    if (!row.IsSetIn(fields)) continue;
    const Status status = row.text != nullptr ? CheckText(row, fields) : row.Check(fields);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

// Of these the second is never less than the first.
struct Follower {
  const char* leader_name;
  uint32_t jankbox_options::*leader;
  const char* name;
  uint32_t jankbox_options::*value;
};

constexpr Follower kFollowers[] = {
    {"slow_message_ms", &jankbox_options::slow_message_ms, "lag_ms", &jankbox_options::lag_ms},
    {"slow_message_ms", &jankbox_options::slow_message_ms, "anr_ms", &jankbox_options::anr_ms},
    {"anr_ms", &jankbox_options::anr_ms, "anr_background_ms", &jankbox_options::anr_background_ms},
};

void RaiseFollowers(jankbox_options* values) {
  for (const Follower& follower : kFollowers) {
    values->*follower.value = std::max(values->*follower.value, values->*follower.leader);
  }
}

// Refuses fields that contradict each other. What only contradicts the environment is raised.
Status CheckOrder(const jankbox_options& fields, const jankbox_options& merged) {
  jankbox_options own = OptionLayers().Merge(fields, /*with_pinned=*/false);
  RaiseFollowers(&own);
  for (const Follower& follower : kFollowers) {
    const uint32_t given = fields.*follower.value;
    const uint32_t least = own.*follower.leader;
    if (given == 0 || given >= least || given >= merged.*follower.leader) continue;
    return Status(StatusCode::kInvalidArgument,
                  std::string(follower.name) + " is " + std::to_string(given) +
                      ": must be at least " + follower.leader_name + ", " + std::to_string(least));
  }
  return Status::Ok();
}

std::string Absolute(const std::string& path) {
  char current[PATH_MAX];
  if (path.empty() || path[0] == '/' || getcwd(current, sizeof(current)) == nullptr) return path;
  return std::string(current) + "/" + path;
}

std::string DefaultReportFolder() {
  const std::string_view state = Variable("XDG_STATE_HOME");
  if (state.starts_with('/')) return std::string(state) + "/jankbox";
  const std::string_view home = Variable("HOME");
  if (home.starts_with('/')) return std::string(home) + "/.local/state/jankbox";
  return "/tmp/jankbox-" + std::to_string(geteuid());
}

}  // namespace

Result<jankbox_options> WholeOptions(const jankbox_options* options) {
  jankbox_options given{};
  if (options == nullptr) return given;
  if (options->size < offsetof(jankbox_options, dir)) {
    return Status(StatusCode::kInvalidArgument,
                  "size is " + std::to_string(options->size) + ": must be sizeof(jankbox_options)");
  }
  memcpy(&given, options, std::min<size_t>(options->size, sizeof(given)));
  return given;
}

Result<Options> ValidateOptions(const jankbox_options* fields, const OptionLayers& layers) {
  const Result<jankbox_options> whole = WholeOptions(fields);
  if (!whole.ok()) return whole.status();
  const Status valid = CheckFields(whole.value());
  if (!valid.ok()) return valid;
  jankbox_options merged = layers.Merge(whole.value(), /*with_pinned=*/true);
  RaiseFollowers(&merged);
  const Status ordered = CheckOrder(whole.value(), merged);
  if (!ordered.ok()) return ordered;
  Options options = Store(merged);
  options.dir = Absolute(options.dir.empty() ? DefaultReportFolder() : options.dir);
  if (options.app_name.empty()) options.app_name = CurrentProcessName();
  options.unpinned_thresholds = OnlyThresholds(layers.Merge(whole.value(), /*with_pinned=*/false));
  options.pinned_thresholds = OnlyThresholds(layers.pinned.values());
  return options;
}

jankbox_options OrderedThresholds(const jankbox_options& values) {
  jankbox_options merged = OptionLayers().Merge(values, /*with_pinned=*/false);
  RaiseFollowers(&merged);
  return merged;
}

Thresholds ThresholdsOf(const jankbox_options& values) { return Store(OrderedThresholds(values)); }

jankbox_options OnlyThresholds(const jankbox_options& options) {
  jankbox_options thresholds{};
  thresholds.size = sizeof(thresholds);
  for (const OptionRow& row : OptionRows()) {
    if (row.change == OptionChange::kAnyTime) row.Copy(options, &thresholds);
  }
  return thresholds;
}

}  // namespace jankbox
