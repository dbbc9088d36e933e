#include "sdk/api/options.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "tracer/atrace/atrace_categories.h"
#include "tracer/atrace/atrace_tags.h"
#include "tracer/atrace/property_source.h"
#include "tracer/ring/process_identity.h"

namespace jankbox {
namespace {

// Android's runtime waits for the signal; elsewhere its default is to die.
#if defined(__ANDROID__)
constexpr bool kWatchesSigquit = true;
#else
constexpr bool kWatchesSigquit = false;
#endif

struct Range {
  const char* field;
  const char* environment;  // null: none
  uint32_t fallback;
  uint32_t least;
  uint32_t most;
};

constexpr Range kWindow = {"window_ms", nullptr, 10'000, 100, 600'000};
constexpr Range kRing = {"ring_bytes", nullptr, 8u << 20, 1u << 20, 1u << 30};
constexpr Range kSlow = {"slow_message_ms", "JANKBOX_SLOW_MS", 700, 10, 600'000};
constexpr Range kAnr = {"anr_ms", "JANKBOX_ANR_MS", 5'000, 10, 3'600'000};
constexpr Range kLag = {"lag_ms", "JANKBOX_LAG_MS", 2'000, 10, 3'600'000};
constexpr Range kBackground = {"anr_background_ms", "JANKBOX_ANR_BACKGROUND_MS", 10'000, 10,
                               3'600'000};
constexpr Range kColdStart = {"cold_start_ms", "JANKBOX_COLD_START_MS", 10'000, 100, 3'600'000};
constexpr Range kWarmStart = {"warm_start_ms", "JANKBOX_WARM_START_MS", 4'000, 100, 3'600'000};
constexpr Range kSigquit = {"sigquit", nullptr, JANKBOX_SIGQUIT_DEFAULT, JANKBOX_SIGQUIT_DEFAULT,
                            JANKBOX_SIGQUIT_OFF};
constexpr Range kJank = {"jank_dropped_frames", nullptr, 9, 1, 10'000};
constexpr Range kSample = {"sample_interval_ms", nullptr, 5, 1, 1'000};
constexpr Range kRecord = {"record", nullptr, JANKBOX_RECORD_GOVERNED, JANKBOX_RECORD_GOVERNED,
                           JANKBOX_RECORD_OFF};
constexpr Range kMarkers = {"markers", nullptr, JANKBOX_MARKERS_PASS_ON, JANKBOX_MARKERS_PASS_ON,
                            JANKBOX_MARKERS_OFF};
constexpr Range kSources = {"sources", nullptr, 0, 0, JANKBOX_SOURCES_OFF};
constexpr Range kFramePolicy = {"frame_policy", nullptr, 0, 0, JANKBOX_FRAME_POLICY_DEADLINE};
constexpr Range kFramesFrom = {"frame_sources", nullptr, 0, 0, JANKBOX_FRAMES_OFF};
constexpr Range kBudget = {"cpu_budget_permille", "JANKBOX_CPU_BUDGET_PERMILLE", 10, 1, UINT32_MAX};
constexpr Range kFtrace = {"ftrace", nullptr, JANKBOX_FTRACE_AUTO, JANKBOX_FTRACE_AUTO,
                           JANKBOX_FTRACE_ON};
constexpr Range kFtraceBuffer = {"ftrace_buffer_kib", "JANKBOX_FTRACE_BUFFER_KIB", 1024, 64,
                                 65'536};
constexpr Range kReportsADay = {"reports_a_day", "JANKBOX_REPORTS_A_DAY", 100, 1, UINT32_MAX};
constexpr Range kRepeats = {"repeats", nullptr, JANKBOX_REPEATS_EXEMPLARS,
                            JANKBOX_REPEATS_EXEMPLARS, JANKBOX_REPEATS_EVERY};
constexpr Range kInput = {"input_latency_ms", "JANKBOX_INPUT_MS", 2'000, 10, 60'000};
constexpr Range kHistory = {"history_messages", "JANKBOX_HISTORY", 200, 1, 5'000};
constexpr Range kMinFree = {"min_free_mib", "JANKBOX_MIN_FREE_MIB", 64, 0, UINT32_MAX};

// The environment's number, or `fallback` where it is not set or not a number.
uint32_t FromEnvironment(const char* name, uint32_t fallback) {
  const char* text = name == nullptr ? nullptr : getenv(name);
  if (text == nullptr || *text == '\0') return fallback;
  char* end = nullptr;
  const unsigned long value = strtoul(text, &end, 10);
  return *end == '\0'
             ? static_cast<uint32_t>(std::min(value, static_cast<unsigned long>(UINT32_MAX)))
             : fallback;
}

Status Check(const Range& range, uint32_t given, uint32_t* value) {
  *value = given != 0 ? given : FromEnvironment(range.environment, range.fallback);
  if (*value >= range.least && *value <= range.most) return Status::Ok();
  return Status(StatusCode::kInvalidArgument,
                std::string(range.field) + " is " + std::to_string(*value) + ": must be " +
                    std::to_string(range.least) + " to " + std::to_string(range.most));
}

// `value` is to be at least `least`: refused by name where it was given, else raised.
Status AtLeast(const Range& range, uint32_t given, const Range& other, uint32_t least,
               uint32_t* value) {
  if (*value >= least) return Status::Ok();
  if (given != 0) {
    return Status(StatusCode::kInvalidArgument, std::string(range.field) + " is " +
                                                    std::to_string(*value) + ": must be at least " +
                                                    other.field + ", " + std::to_string(least));
  }
  *value = least;
  return Status::Ok();
}

std::string TextOr(const char* text, const std::string& fallback) {
  return text != nullptr && *text != '\0' ? text : fallback;
}

std::string Absolute(const std::string& path) {
  char current[PATH_MAX];
  if (path.empty() || path[0] == '/' || getcwd(current, sizeof(current)) == nullptr) return path;
  return std::string(current) + "/" + path;
}

// JANKBOX_RECORD_GOVERNED, or unknown: none.
std::optional<RecordMode> FixedMode(uint32_t given) {
  const std::string text = TextOr(getenv("JANKBOX_RECORD"), "");
  if (given == JANKBOX_RECORD_EXACT || text == "exact") return RecordMode::kExact;
  if (given == JANKBOX_RECORD_COARSE || text == "coarse") return RecordMode::kCoarse;
  if (given == JANKBOX_RECORD_UI_ONLY || text == "ui_only") return RecordMode::kWatchedOnly;
  if (given == JANKBOX_RECORD_OFF || text == "off") return RecordMode::kOff;
  return std::nullopt;
}

MarkerMode Markers(uint32_t given) {
  const std::string text = TextOr(getenv("JANKBOX_MARKERS"), "");
  if (given == JANKBOX_MARKERS_OFF || text == "off") return MarkerMode::kOff;
  if (given == JANKBOX_MARKERS_KEEP || text == "keep") return MarkerMode::kKeep;
  return MarkerMode::kPassOn;
}

// kInvalidArgument where `text` is neither off, auto nor categories.
Status SetAtraceTags(const std::string& text, std::optional<uint64_t>* tags) {
  if (text == "off") return Status::Ok();
  *tags = kDefaultCaptureTags | kTagApp;
  if (text == "auto") return Status::Ok();
  const AtraceSelection selection = SelectAtraceCategories(text, nullptr);
  *tags = selection.tags;
  if (selection.unknown.empty()) return Status::Ok();
  return Status(StatusCode::kInvalidArgument,
                "atrace: \"" + selection.unknown.front() +
                    "\" is no category: must be off, auto, or names such as gfx,view,app");
}

Status SetAtrace(const jankbox_options& given, Options* checked) {
  const Status status = SetAtraceTags(
      TextOr(given.atrace, TextOr(getenv("JANKBOX_ATRACE"), "auto")), &checked->atrace_tags);
  if (!status.ok()) return status;
  checked->atrace_library = TextOr(getenv("JANKBOX_ATRACE_LIBRARY"), "");
  checked->properties_file = TextOr(getenv("JANKBOX_PROPERTIES"), "");
  if (checked->properties_file.empty() || IsPlainAbsolutePath(checked->properties_file)) {
    return Status::Ok();
  }
  return Status(StatusCode::kInvalidArgument, "JANKBOX_PROPERTIES is " + checked->properties_file +
                                                  ": must be an absolute path without \"..\"");
}

bool Sigquit(uint32_t given) {
  const std::string text = TextOr(getenv("JANKBOX_SIGQUIT"), "");
  if (given != JANKBOX_SIGQUIT_DEFAULT) return given == JANKBOX_SIGQUIT_ON;
  return text == "on" || (text != "off" && kWatchesSigquit);
}

// True where `word` stands in the list `text`, whose words are parted by commas.
bool Lists(std::string_view text, std::string_view word) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (text.substr(0, end) == word) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

// `given`, else what $JANKBOX_SOURCES lists ("threads,io,locks" or "off"), else all.
SourceSet Sources(uint32_t given) {
  const std::string text = TextOr(getenv("JANKBOX_SOURCES"), "threads,io,locks");
  const auto wants = [&](uint32_t bit, const char* word) {
    return given != 0 ? (given & bit) != 0 : Lists(text, word);
  };
  return {.threads = wants(JANKBOX_SOURCE_THREADS, "threads"),
          .io = wants(JANKBOX_SOURCE_IO, "io"),
          .locks = wants(JANKBOX_SOURCE_LOCKS, "locks")};
}

// What the program asked for, else the environment's word; unknown words are bands.
FramePolicy FramePolicyOf(uint32_t given) {
  const std::string text = given == 0 ? TextOr(getenv("JANKBOX_FRAME_POLICY"), "") : "";
  if (given == JANKBOX_FRAME_POLICY_JANKSTATS || text == "jankstats")
    return FramePolicy::kJankStats;
  if (given == JANKBOX_FRAME_POLICY_DEADLINE || text == "deadline") return FramePolicy::kDeadline;
  return FramePolicy::kBands;
}

// `given`, else what $JANKBOX_FRAMES lists ("choreographer,gtk,sdl,swap" or "off"), else all but
// the first, which wakes the thread at each vsync.
FrameHookSet FrameSources(uint32_t given) {
  const std::string text = TextOr(getenv("JANKBOX_FRAMES"), "gtk,sdl,swap");
  const auto wants = [&](uint32_t bit, const char* word) {
    return given != 0 ? (given & bit) != 0 : Lists(text, word);
  };
  return {.choreographer = wants(JANKBOX_FRAMES_CHOREOGRAPHER, "choreographer"),
          .gtk = wants(JANKBOX_FRAMES_GTK, "gtk"),
          .sdl = wants(JANKBOX_FRAMES_SDL, "sdl"),
          .swap = wants(JANKBOX_FRAMES_SWAP, "swap")};
}

StackSampler::Mode SamplerMode() {
  const std::string mode = TextOr(getenv("JANKBOX_SAMPLER"), "auto");
  if (mode == "perf") return StackSampler::Mode::kPerfOnly;
  if (mode == "proc") return StackSampler::Mode::kProcOnly;
  if (mode == "signal") return StackSampler::Mode::kSignalOnly;
  return StackSampler::Mode::kAuto;
}

// What the program asked for, else the environment's word; unknown words are JANKBOX_FTRACE_AUTO.
FtraceMode FtraceModeOf(uint32_t given) {
  const std::string text = TextOr(getenv("JANKBOX_FTRACE"), "");
  if (given == JANKBOX_FTRACE_OFF || text == "off") return FtraceMode::kOff;
  if (given == JANKBOX_FTRACE_ON || text == "on") return FtraceMode::kOn;
  return FtraceMode::kAuto;
}

}  // namespace

std::string DefaultReportFolder() {
  const char* state = getenv("XDG_STATE_HOME");
  const char* home = getenv("HOME");
  std::string fallback = "/tmp/jankbox-" + std::to_string(geteuid());
  if (home != nullptr && home[0] == '/') fallback = std::string(home) + "/.local/state/jankbox";
  if (state != nullptr && state[0] == '/') fallback = std::string(state) + "/jankbox";
  return TextOr(getenv("JANKBOX_DIR"), fallback);
}

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

Result<Options> ValidateOptions(const jankbox_options* options) {
  const Result<jankbox_options> whole = WholeOptions(options);
  if (!whole.ok()) return whole.status();
  jankbox_options given = whole.value();
  Options checked;
  uint32_t input_ms = 0, window_ms = 0, slow_ms = 0, anr_ms = 0, min_free_mib = 0, record = 0,
           markers = 0, sources = 0, ftrace = 0, repeats = 0, lag_ms = 0, background_ms = 0,
           sigquit = 0, frame_policy = 0, frame_sources = 0, cold_ms = 0, warm_ms = 0;
  // `jankbox run --window-s` speaks of seconds.
  if (given.window_ms == 0) given.window_ms = FromEnvironment("JANKBOX_WINDOW_S", 0) * 1000;
  const uint32_t min_free_given = given.min_free_mib;
  for (const Status& status :
       {Check(kWindow, given.window_ms, &window_ms),
        Check(kRing, given.ring_bytes, &checked.ring_bytes),
        Check(kSlow, given.slow_message_ms, &slow_ms),
        Check(kAnr, given.anr_ms, &anr_ms),
        Check(kJank, given.jank_dropped_frames, &checked.jank_dropped_frames),
        Check(kSample, given.sample_interval_ms, &checked.sample_interval_ms),
        Check(kBudget, given.cpu_budget_permille, &checked.cpu_budget_permille),
        Check(kRecord, given.record, &record),
        Check(kMarkers, given.markers, &markers),
        Check(kSources, given.sources, &sources),
        Check(kFtrace, given.ftrace, &ftrace),
        Check(kFramePolicy, given.frame_policy, &frame_policy),
        Check(kFramesFrom, given.frame_sources, &frame_sources),
        Check(kFtraceBuffer, given.ftrace_buffer_kib, &checked.kernel.buffer_kib),
        Check(kLag, given.lag_ms, &lag_ms),
        Check(kBackground, given.anr_background_ms, &background_ms),
        Check(kSigquit, given.sigquit, &sigquit),
        Check(kColdStart, given.cold_start_ms, &cold_ms),
        Check(kWarmStart, given.warm_start_ms, &warm_ms),
        Check(kReportsADay, given.reports_a_day, &checked.repeats.reports_a_day),
        Check(kInput, given.input_latency_ms, &input_ms),
        Check(kHistory, given.history_messages, &checked.history_messages),
        Check(kRepeats, given.repeats, &repeats),
        Check(kMinFree, min_free_given, &min_free_mib)}) {
    if (!status.ok()) return status;
  }
  // Only one of them may be given: the others follow, so that an ANR is always the slowest.
  for (const Status& status :
       {AtLeast(kAnr, given.anr_ms, kSlow, slow_ms, &anr_ms),
        AtLeast(kLag, given.lag_ms, kSlow, slow_ms, &lag_ms),
        AtLeast(kBackground, given.anr_background_ms, kAnr, anr_ms, &background_ms)}) {
    if (!status.ok()) return status;
  }
  checked.dir = Absolute(TextOr(given.dir, DefaultReportFolder()));
  checked.app_name = TextOr(given.app_name, CurrentProcessName());
  checked.app_version = TextOr(given.app_version, "");
  checked.upload_url = TextOr(given.upload_url, TextOr(getenv("JANKBOX_UPLOAD_URL"), ""));
  checked.window_ns = window_ms * kNsPerMs;
  checked.slow_message_ns = slow_ms * kNsPerMs;
  checked.lag_ns = lag_ms * kNsPerMs;
  checked.anr_ns = anr_ms * kNsPerMs;
  checked.anr_background_ns = background_ms * kNsPerMs;
  checked.sigquit = Sigquit(sigquit);
  checked.cold_start_ns = cold_ms * kNsPerMs;
  checked.warm_start_ns = warm_ms * kNsPerMs;
  checked.config_file = TextOr(given.config_file, TextOr(getenv("JANKBOX_CONFIG"), ""));
  checked.input_latency_ns = input_ms * kNsPerMs;
  checked.min_free_bytes = min_free_mib == UINT32_MAX ? 0 : uint64_t{min_free_mib} << 20;
  checked.loop_hooks = (given.flags & JANKBOX_FLAG_NO_LOOP_HOOKS) == 0;
  if (checked.repeats.reports_a_day == UINT32_MAX) checked.repeats.reports_a_day = 0;
  checked.repeats.every_incident =
      repeats == JANKBOX_REPEATS_EVERY || TextOr(getenv("JANKBOX_REPEATS"), "") == "every";
  checked.watch_threads = TextOr(given.watch_threads, TextOr(getenv("JANKBOX_WATCH_THREADS"), ""));
  if (checked.cpu_budget_permille == UINT32_MAX) checked.cpu_budget_permille = 0;
  checked.fixed_mode = FixedMode(record);
  checked.markers = Markers(markers);
  checked.sources = Sources(sources);
  checked.frame_policy = FramePolicyOf(frame_policy);
  checked.frame_sources = FrameSources(frame_sources);
  checked.sampler_mode = SamplerMode();
  checked.kernel.mode = FtraceModeOf(ftrace);
  checked.kernel.trace_clock = TextOr(getenv("JANKBOX_FTRACE_CLOCK"), "");
  const Status atrace = SetAtrace(given, &checked);
  if (!atrace.ok()) return atrace;
  return checked;
}

}  // namespace jankbox
