#include "tools/reports/report_view.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

using nlohmann::json;

constexpr const char* kCauses[] = {"running", "runnable", "lock",     "disk",    "fault",
                                   "ipc",     "gc",       "sleeping", "blocked", "unknown"};

const json& Field(const json& object, const char* name) {
  static const json kNull;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : kNull;
}

std::string Text(const json& object, const char* name) {
  const json& field = Field(object, name);
  return field.is_string() ? Printable(field.get_ref<const std::string&>()) : "";
}

double Number(const json& object, const char* name) {
  const json& field = Field(object, name);
  return field.is_number() ? std::clamp(field.get<double>(), 0.0, 1e18) : 0;
}

uint64_t Count(const json& object, const char* name) {
  return static_cast<uint64_t>(Number(object, name));
}

std::vector<std::string> Texts(const json& object, const char* name) {
  std::vector<std::string> texts;
  for (const json& item : Field(object, name)) {
    if (item.is_string()) texts.push_back(Printable(item.get_ref<const std::string&>()));
  }
  return texts;
}

ReportView::Frame ViewFrame(const json& frame) {
  ReportView::Frame view;
  view.function = Text(frame, "function");
  view.module = Text(frame, "module");
  view.instrumented = view.module == "[method]";
  if (view.function.empty()) {
    char offset[32];
    snprintf(offset, sizeof(offset), "+0x%llx",
             static_cast<unsigned long long>(Count(frame, "rel_pc")));
    view.function = (view.module.empty() ? "?" : view.module) + offset;
  }
  return view;
}

void ViewVerdict(const json& verdict, ReportView* view) {
  for (const char* cause : kCauses) {
    view->shares.push_back({cause, Number(verdict, (std::string(cause) + "_ms").c_str())});
  }
  for (const json& part : Field(verdict, "shares")) {
    const json& estimate = Field(part, "estimate");
    view->parts.push_back({Number(part, "ms"), Text(part, "detail"), Text(part, "source"),
                           estimate.is_boolean() && estimate.get<bool>()});
  }
  view->summary = Text(verdict, "summary");
  view->sources = Texts(verdict, "sources");
}

void ViewRecorder(const json& report, ReportView* view) {
  const json& losses = Field(report, "losses");
  if (losses.is_object()) {
    for (const auto& [name, count] : losses.items()) {
      if (Count(losses, name.c_str()) == 0) continue;
      std::string words = Printable(name);
      std::replace(words.begin(), words.end(), '_', ' ');
      view->losses.emplace_back(words, Count(losses, name.c_str()));
    }
  }
  const json& cost = Field(report, "self_cost");
  view->self_cpu_ms = Number(cost, "cpu_ms");
  view->recording_ms = Number(cost, "recording_ms");
  view->uptime_ms = Number(cost, "uptime_ms");
  view->ring_bytes = Count(cost, "ring_bytes");
  view->start_us = Count(cost, "start_us");
  view->notes = Texts(report, "notes");
  view->sampler = Text(report, "sampler");
  view->loop = Text(report, "loop");
  view->sample_count = Count(report, "sample_count");
  view->sched_switches = Count(report, "sched_switches");
}

std::string Format(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string Format(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return text;
}

std::string SceneName(const std::string& scene) {
  return scene.empty() ? "" : "\"" + scene + "\" ";
}

std::string PhasesText(const json& phases) {
  std::string text;
  for (const char* phase : {"input", "animation", "insets", "traversal", "commit"}) {
    const double ms = Number(phases, (std::string(phase) + "_ms").c_str());
    if (ms >= 0.05) text += (text.empty() ? ": " : ", ") + Format("%s %.1f ms", phase, ms);
  }
  return text;
}

void ViewFrames(const json& report, ReportView* view) {
  const std::string source = Text(report, "frame_source");
  const json& janky = Field(report, "janky_frame");
  if (janky.is_object()) {
    view->frames_text.push_back(Format("frame of %.1f ms, started %.1f ms after its vsync",
                                       Number(janky, "total_ms"), Number(janky, "jitter_ms")) +
                                PhasesText(Field(janky, "phases")));
  }
  for (const json& scene : Field(report, "scenes")) {
    view->frames_text.push_back(
        SceneName(Text(scene, "scene")) +
        Format("%llu frames, %.1f fps, %llu dropped, %llu janky, p50 %.1f ms, p95 %.1f ms, p99 "
               "%.1f ms",
               static_cast<unsigned long long>(Count(scene, "frames")), Number(scene, "fps"),
               static_cast<unsigned long long>(Count(scene, "dropped")),
               static_cast<unsigned long long>(Count(scene, "janky")), Number(scene, "p50_ms"),
               Number(scene, "p95_ms"), Number(scene, "p99_ms")) +
        (source.empty() ? "" : " (" + Text(scene, "source") + ")"));
  }
  std::string states;
  for (const json& state : Field(report, "states")) {
    states += (states.empty() ? "" : ", ") + Text(state, "key") + " = " + Text(state, "value");
  }
  if (!states.empty()) view->frames_text.push_back(states);
}

void ViewRenderWork(const json& report, ReportView* view) {
  for (const json& work : Field(report, "render_work")) {
    const uint64_t count = Count(work, "count");
    std::string line = DurationText(Number(work, "duration_ms")) + " " + Text(work, "name");
    if (count > 1) line += " x " + std::to_string(count);
    const auto tid = static_cast<int64_t>(Count(work, "tid"));
    if (tid != view->tid) line += " (tid " + std::to_string(tid) + ")";
    view->render_text.push_back(line);
  }
}

void ViewExtra(const json& report, ReportView* view) {
  for (const json& method : Field(report, "extra")) {
    const double usual_ms = Number(method, "usual_ms");
    view->extra_text.push_back(
        Text(method, "function") + " took " + DurationText(Number(method, "extra_ms")) +
        (usual_ms > 0 ? " more than its usual " + DurationText(usual_ms) : ", usually not called"));
  }
}

void ViewRecording(const json& report, ReportView* view) {
  const json& parts = Field(report, "recording");
  if (!parts.is_array()) return;
  bool exact = true;
  for (const json& part : parts) {
    const std::string mode = Text(part, "mode");
    exact = exact && mode == "exact";
    view->recording.push_back(mode + " (" + Text(part, "reason") + ")");
  }
  if (exact) view->recording.clear();
}

std::vector<ReportView::Message> ViewMessages(const json& messages) {
  std::vector<ReportView::Message> view;
  for (const json& message : messages) {
    view.push_back({Text(message, "what"), Number(message, "before_ms"), Number(message, "wall_ms"),
                    Count(message, "count")});
  }
  return view;
}

void ViewHistory(const json& history, ReportView* view) {
  view->history.count = Count(history, "count");
  view->history.busy_ms = Number(history, "busy_ms");
  view->history.left_out = Count(history, "left_out");
  view->history.longest = ViewMessages(Field(history, "longest"));
  view->history.last = ViewMessages(Field(history, "last"));
}

// Functions that wait or copy bytes: their caller matters.
bool IsSystemModule(const std::string& module) {
  constexpr const char* kPrefixes[] = {"libc.so", "libc-",      "libpthread", "ld-linux",
                                       "libm.so", "linux-vdso", "[vdso]",     "[kernel]"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](const char* prefix) { return module.rfind(prefix, 0) == 0; });
}

}  // namespace

ReportView ViewReport(const json& report) {
  ReportView view;
  view.id = Text(report, "id");
  view.revision = Count(report, "revision");
  view.kind = Text(report, "kind");
  std::replace(view.kind.begin(), view.kind.end(), '_', ' ');
  view.duration_ms = Number(report, "duration_ms");
  const json& ongoing = Field(report, "ongoing");
  view.ongoing = ongoing.is_boolean() && ongoing.get<bool>();
  view.what = Text(report, "what");
  view.process = Text(report, "process");
  view.pid = static_cast<int64_t>(Count(report, "pid"));
  view.thread = Text(report, "thread");
  view.tid = static_cast<int64_t>(Count(report, "tid"));
  view.fingerprint = Text(report, "fingerprint");
  view.frame_dropped = Count(report, "frame_dropped");
  ViewVerdict(Field(report, "verdict"), &view);
  for (const json& frame : Field(report, "top_frames")) view.frames.push_back(ViewFrame(frame));
  const json& window = Field(report, "window");
  view.window_from = Text(window, "from");
  view.window_to = Text(window, "to");
  view.window_ms = std::max(0.0, (Number(window, "to_ns") - Number(window, "from_ns")) / 1e6);
  view.idle_callback = Text(report, "idle_callback");
  view.idle_callback_ms = Number(report, "idle_callback_ms");
  view.input_wait_ms = Number(report, "input_wait_ms");
  ViewHistory(Field(report, "history"), &view);
  ViewRecorder(report, &view);
  ViewRecording(report, &view);
  ViewFrames(report, &view);
  ViewRenderWork(report, &view);
  ViewExtra(report, &view);
  return view;
}

std::string BlamedFunction(const ReportView& report) {
  using Frame = ReportView::Frame;
  const auto find = [&](auto&& matches) {
    return std::find_if(report.frames.begin(), report.frames.end(), matches);
  };
  const auto named = [](const Frame& frame) {
    return frame.instrumented || frame.function.rfind(frame.module + "+0x", 0) != 0;
  };
  auto found = find([](const Frame& frame) { return frame.instrumented; });
  if (found == report.frames.end()) {
    found = find([&](const Frame& f) { return named(f) && !IsSystemModule(f.module); });
  }
  if (found == report.frames.end()) found = find(named);
  if (found == report.frames.end()) found = report.frames.begin();
  return found == report.frames.end() ? report.what : found->function;
}

std::string ProcessAndThread(const ReportView& report) {
  const std::string& process = report.process.empty() ? "?" : report.process;
  const bool main_thread = report.tid == report.pid;
  if (main_thread || report.thread.empty()) return process + (main_thread ? " (main)" : "");
  return process + " (" + report.thread + ")";
}

std::string DurationText(double ms) {
  char text[48];
  if (ms < 9.95) {
    snprintf(text, sizeof(text), "%.1f ms", ms);
  } else if (ms < 999.5) {
    snprintf(text, sizeof(text), "%.0f ms", ms);
  } else if (ms < 59'950) {
    snprintf(text, sizeof(text), "%.1f s", ms / 1000);
  } else {
    const double seconds = std::round(ms / 1000);
    snprintf(text, sizeof(text), "%.0f min %.0f s", std::floor(seconds / 60),
             std::fmod(seconds, 60));
  }
  return text;
}

std::string LocalTime(const std::string& rfc3339, bool only_clock) {
  tm utc{};
  const char* rest = strptime(rfc3339.c_str(), "%Y-%m-%dT%H:%M:%S", &utc);
  if (rest == nullptr) return rfc3339;
  const time_t seconds = timegm(&utc);
  tm local{};
  localtime_r(&seconds, &local);
  char text[64];
  strftime(text, sizeof(text), only_clock ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &local);
  std::string result = text;
  if (only_clock && *rest == '.') result += std::string(rest).substr(0, 4);
  return result;
}

}  // namespace jankbox::tools
