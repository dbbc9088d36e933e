// A report as plain values, for the side that writes it inside an app. Mirrors report.proto field
// by field (tests/report/report_encoder_test.cc holds the two together). Not thread-safe.
#ifndef JANKBOX_REPORT_REPORT_H_
#define JANKBOX_REPORT_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace jankbox {

// A sealed report is the file <id>.pftrace.zst.
inline constexpr char kReportFileSuffix[] = ".pftrace.zst";

enum class ReportKind : uint32_t {
  kUnspecified = 0,
  kSlowMessage = 1,
  kSlowMethod = 2,
  kJank = 3,
  kStartup = 4,
  kAnr = 5,
  kRecovered = 6,
  kManual = 7,
  kInputLatency = 10,
  kLag = 8,
  kCustom = 9,
};

struct ReportFrame {
  std::string function;
  std::string module;
  uint64_t rel_pc = 0;
  std::string build_id;
};

struct ReportShare {
  std::string name;
  uint64_t ns = 0;
  std::string source;
  bool estimate = false;
  std::string detail;
};

// Nanoseconds of the incident's wall time by cause; see the message of that name.
struct ReportVerdict {
  uint64_t running_ns = 0;
  uint64_t runnable_ns = 0;
  uint64_t lock_ns = 0;
  uint64_t disk_ns = 0;
  uint64_t fault_ns = 0;
  uint64_t ipc_ns = 0;
  uint64_t gc_ns = 0;
  uint64_t sleeping_ns = 0;
  uint64_t blocked_ns = 0;
  uint64_t unknown_ns = 0;
  std::string summary;
  std::vector<std::string> sources;
  std::vector<ReportShare> shares;
  int32_t lock_owner_tid = 0;
  std::string lock_owner;
  std::vector<ReportFrame> lock_owner_frames;
};

struct ReportLosses {
  uint64_t overwritten_chunks = 0;
  uint64_t torn_chunks = 0;
  uint64_t dropped_events = 0;
  uint64_t truncated_stacks = 0;
  uint64_t lost_samples = 0;
  uint64_t unmatched_ends = 0;
  uint64_t open_slices = 0;
  uint64_t suppressed_incidents = 0;
  uint64_t spool_dropped_reports = 0;
  uint64_t unnamed_methods = 0;
  uint64_t corrupt_chunks = 0;
  uint64_t repaired_slices = 0;
  uint64_t unknown_markers = 0;
  uint64_t lost_kernel_events = 0;
};

struct ReportMode {
  std::string mode;
  std::string reason;
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
};

// All empty where the process has no atrace library, or it is left alone.
struct ReportAtrace {
  std::string state;
  uint64_t tags = 0;
  uint64_t added_tags = 0;
  std::string categories;
  std::string library;
  uint64_t start_ns = 0;
};

// What was noticed and not reported, since the recorder was started.
struct ReportRefusal {
  std::string reason;
  uint64_t count = 0;
  uint64_t last_ns = 0;  // CLOCK_BOOTTIME
};

// A line of the incident's call tree.
struct ReportMethod {
  std::string function;
  uint32_t depth = 0;
  uint32_t count = 0;
  uint64_t duration_ns = 0;
  bool open = false;
};

// Named render work that fell into the incident, on one thread.
struct ReportRenderWork {
  std::string name;
  int32_t tid = 0;
  uint32_t count = 0;
  uint64_t duration_ns = 0;
  bool open = false;
};

// What was extra in the incident's message, against healthy ones of its kind.
struct ReportExtra {
  std::string function;
  uint64_t extra_ns = 0;
  uint64_t usual_ns = 0;
};

// A start of the app: nanoseconds from its begin to each moment; 0: it did not come.
struct ReportStartup {
  bool cold = false;
  uint64_t recorder_ns = 0;
  uint64_t first_dispatch_ns = 0;
  uint64_t first_frame_ns = 0;
  uint64_t drawn_ns = 0;
};

struct ReportAttribute {
  std::string key;
  std::string value;
};

struct ReportJankyFrame {
  uint64_t vsync_id = 0;
  uint64_t total_ns = 0;  // 0: there is none
  uint64_t jitter_ns = 0;
  uint64_t deadline_overrun_ns = 0;
  uint64_t phase_ns[5] = {};  // input, animation, insets, traversal, commit
  std::string band;
  std::string scene;
  uint64_t presented_late_ns = 0;
};

struct ReportSceneFrames {
  std::string scene;
  uint64_t frames = 0;
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
  uint64_t fps_milli = 0;
  uint64_t bands[5] = {};  // best, normal, middle, high, frozen
  uint64_t dropped = 0;
  uint64_t janky = 0;
  uint64_t above_700_ms = 0;
  uint64_t discarded = 0;
  uint64_t presented_late = 0;
  uint64_t phase_ns[5] = {};  // as in ReportJankyFrame
  uint64_t jitter_ns = 0;
  uint64_t p50_ns = 0;
  uint64_t p90_ns = 0;
  uint64_t p95_ns = 0;
  uint64_t p99_ns = 0;
  uint64_t interval_ns = 0;
  std::string source;
};

struct ReportState {
  std::string key;
  std::string value;
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
};

// A thread of the process as it was when the ANR was raised.
struct ReportThread {
  int32_t tid = 0;
  std::string name;
  std::string state;
  std::string wait;
  int32_t waits_for_tid = 0;
  bool deadlocked = false;
  std::vector<ReportFrame> frames;
};

struct ReportMessage {
  uint32_t name = 0;  // index into ReportHistory::names, from 1; 0: not named
  uint64_t before_ns = 0;
  uint64_t wall_ns = 0;
  uint32_t count = 0;
};

// All empty where nothing was dispatched before the incident.
struct ReportHistory {
  uint64_t from_ns = 0;
  uint64_t count = 0;
  uint64_t busy_ns = 0;
  uint64_t left_out = 0;
  std::vector<std::string> names;
  std::vector<ReportMessage> longest;
  std::vector<ReportMessage> last;
};

struct Report {
  std::string id;
  uint32_t revision = 1;
  ReportKind kind = ReportKind::kUnspecified;
  uint64_t duration_ns = 0;
  // CLOCK_MONOTONIC; for listeners, not in the file.
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  bool ongoing = false;
  std::string what;
  std::string process;
  int32_t pid = 0;
  std::string thread;
  int32_t tid = 0;
  std::string fingerprint;
  ReportVerdict verdict;
  std::vector<ReportFrame> top_frames;
  uint64_t window_from_ns = 0;
  uint64_t window_to_ns = 0;
  uint64_t window_to_realtime_ns = 0;
  ReportLosses losses;
  uint64_t self_cpu_ns = 0;
  uint64_t ring_bytes = 0;
  uint64_t start_us = 0;
  uint64_t recorded_ns = 0;
  uint64_t uptime_ns = 0;
  uint32_t cpu_budget_permille = 0;
  std::string sampler;
  std::string loop;
  uint32_t sample_count = 0;
  std::string app_name;
  std::string app_version;
  std::string os;
  std::string sdk_version;
  uint32_t frame_dropped = 0;
  uint64_t frame_interval_ns = 0;
  std::string clock;
  bool ring_in_memory_only = false;
  std::vector<std::string> notes;
  uint32_t sched_switches = 0;
  std::vector<ReportMode> modes;
  uint64_t clock_error_ns = 0;
  ReportAtrace atrace;
  std::vector<ReportRefusal> refusals;
  ReportHistory history;
  std::string idle_callback;
  uint64_t idle_callback_ns = 0;
  uint64_t input_wait_ns = 0;
  std::string frame_source;
  ReportJankyFrame janky_frame;
  std::vector<ReportSceneFrames> scenes;
  std::vector<ReportState> states;
  uint64_t uncounted_frames = 0;
  std::vector<ReportRenderWork> render_work;
  uint64_t held_ns = 0;
  bool background = false;
  uint64_t anr_limit_ns = 0;
  std::vector<ReportThread> threads;
  uint32_t threads_without_stack = 0;
  uint32_t threads_not_listed = 0;
  uint64_t sigquits = 0;
  std::vector<ReportMethod> methods;
  uint32_t methods_left_out = 0;
  std::string exemplar;
  uint64_t repeat_count = 0;
  std::vector<ReportAttribute> attributes;
  ReportStartup startup;
  std::vector<ReportExtra> extra;
  uint64_t healthy_messages = 0;
  uint64_t healthy_median_ns = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_REPORT_REPORT_H_
