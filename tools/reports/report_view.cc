#include "tools/reports/report_view.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/reports/json_field.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

using nlohmann::json;

constexpr const char* kCauses[] = {"running", "runnable", "lock",     "disk",    "fault",
                                   "ipc",     "gc",       "sleeping", "blocked", "unknown"};

ReportView::Frame ViewFrame(const json& frame) {
  ReportView::Frame view;
  view.function = JsonText(frame, "function");
  view.module = JsonText(frame, "module");
  view.instrumented = view.module == "[method]";
  const std::string file = JsonText(frame, "file");
  view.place = file.substr(file.rfind('/') + 1);
  if (JsonCount(frame, "line") != 0) view.place += ":" + std::to_string(JsonCount(frame, "line"));
  const json& inlined = JsonField(frame, "inlined");
  view.inlined = inlined.is_boolean() && inlined.get<bool>();
  if (view.function.empty()) {
    char offset[32];
    snprintf(offset, sizeof(offset), "+0x%llx",
             static_cast<unsigned long long>(JsonCount(frame, "rel_pc")));
    view.function = (view.module.empty() ? "?" : view.module) + offset;
  }
  return view;
}

void ViewVerdict(const json& verdict, ReportView* view) {
  for (const char* cause : kCauses) {
    view->shares.push_back({cause, JsonNumber(verdict, (std::string(cause) + "_ms").c_str())});
  }
  for (const json& part : JsonField(verdict, "shares")) {
    const json& estimate = JsonField(part, "estimate");
    view->parts.push_back({JsonNumber(part, "ms"), JsonText(part, "detail"),
                           JsonText(part, "source"),
                           estimate.is_boolean() && estimate.get<bool>()});
  }
  view->summary = JsonText(verdict, "summary");
  view->sources = JsonTexts(verdict, "sources");
}

void ViewRecorder(const json& report, ReportView* view) {
  const json& losses = JsonField(report, "losses");
  if (losses.is_object()) {
    for (const auto& [name, count] : losses.items()) {
      if (JsonCount(losses, name.c_str()) == 0) continue;
      std::string words = Printable(name);
      std::replace(words.begin(), words.end(), '_', ' ');
      view->losses.emplace_back(words, JsonCount(losses, name.c_str()));
    }
  }
  const json& cost = JsonField(report, "self_cost");
  view->self_cpu_ms = JsonNumber(cost, "cpu_ms");
  for (const auto& [name, field] : {std::pair("watching", "watch_ms"),
                                    {"sealing", "seal_ms"},
                                    {"uploading", "upload_ms"},
                                    {"recording", "recording_ms"}}) {
    const double ms = JsonNumber(cost, field);
    if (ms > 0) view->self_cpu_accounts_ms.emplace_back(name, ms);
  }
  view->recording_ms = JsonNumber(cost, "recording_ms");
  view->uptime_ms = JsonNumber(cost, "uptime_ms");
  view->ring_bytes = JsonCount(cost, "ring_bytes");
  view->start_us = JsonCount(cost, "start_us");
  view->notes = JsonTexts(report, "notes");
  view->sampler = JsonText(report, "sampler");
  view->loop = JsonText(report, "loop");
  view->sample_count = JsonCount(report, "sample_count");
  view->sched_switches = JsonCount(report, "sched_switches");
}

void ViewRecording(const json& report, ReportView* view) {
  const json& parts = JsonField(report, "recording");
  if (!parts.is_array()) return;
  bool exact = true;
  for (const json& part : parts) {
    const std::string mode = JsonText(part, "mode");
    exact = exact && mode == "exact";
    view->recording.push_back(mode + " (" + JsonText(part, "reason") + ")");
  }
  if (exact) view->recording.clear();
}

std::vector<ReportView::Message> ViewMessages(const json& messages) {
  std::vector<ReportView::Message> view;
  for (const json& message : messages) {
    view.push_back({JsonText(message, "what"), JsonNumber(message, "before_ms"),
                    JsonNumber(message, "wall_ms"), JsonCount(message, "count")});
  }
  return view;
}

void ViewHistory(const json& history, ReportView* view) {
  view->history.count = JsonCount(history, "count");
  view->history.busy_ms = JsonNumber(history, "busy_ms");
  view->history.left_out = JsonCount(history, "left_out");
  view->history.longest = ViewMessages(JsonField(history, "longest"));
  view->history.last = ViewMessages(JsonField(history, "last"));
}

// Of the JDK and of Android: their caller matters.
bool IsPlatformCall(const std::string& call) {
  constexpr const char* kPrefixes[] = {"java.", "javax.", "sun.", "jdk.", "com.sun.", "android."};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](const char* prefix) { return call.starts_with(prefix); });
}

std::string WithoutFile(const std::string& call) { return call.substr(0, call.find('(')); }

// Java stacks are attributes (sdk/android/jni/incident_facts), and the innermost call comes first.
void ViewJavaStack(const json& attributes, ReportView::JavaStack* view) {
  constexpr std::string_view kCall = "java_stack_";
  for (const json& attribute : attributes) {
    const std::string key = JsonText(attribute, "key");
    const std::string value = JsonText(attribute, "value");
    if (key == "java_stack") view->seen = value;
    if (key == "java_wait") view->wait = value;
    if (!key.starts_with(kCall)) continue;
    view->calls.push_back(value);
    if (view->own_call.empty() && !IsPlatformCall(value)) view->own_call = WithoutFile(value);
  }
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
  view.id = JsonText(report, "id");
  view.revision = JsonCount(report, "revision");
  view.kind = JsonText(report, "kind");
  std::replace(view.kind.begin(), view.kind.end(), '_', ' ');
  view.duration_ms = JsonNumber(report, "duration_ms");
  const json& ongoing = JsonField(report, "ongoing");
  view.ongoing = ongoing.is_boolean() && ongoing.get<bool>();
  view.what = JsonText(report, "what");
  view.process = JsonText(report, "process");
  view.pid = static_cast<int64_t>(JsonCount(report, "pid"));
  view.thread = JsonText(report, "thread");
  view.tid = static_cast<int64_t>(JsonCount(report, "tid"));
  view.fingerprint = JsonText(report, "fingerprint");
  const json& identity = JsonField(report, "identity");
  view.blamed_function = JsonText(identity, "blamed_function");
  view.basis = JsonText(identity, "basis");
  view.group_key = JsonText(identity, "group_key");
  const json& provisional = JsonField(identity, "provisional");
  view.provisional = provisional.is_boolean() && provisional.get<bool>();
  view.repeat_count = JsonCount(report, "repeat_count");
  view.end_reason = JsonText(report, "end_reason");
  view.frame_dropped = JsonCount(report, "frame_dropped");
  ViewVerdict(JsonField(report, "verdict"), &view);
  for (const json& frame : JsonField(report, "top_frames")) view.frames.push_back(ViewFrame(frame));
  ViewJavaStack(JsonField(report, "attributes"), &view.java);
  const json& window = JsonField(report, "window");
  view.window_from = JsonText(window, "from");
  view.window_to = JsonText(window, "to");
  view.window_ms =
      std::max(0.0, (JsonNumber(window, "to_ns") - JsonNumber(window, "from_ns")) / 1e6);
  ViewHistory(JsonField(report, "history"), &view);
  ViewRecorder(report, &view);
  ViewRecording(report, &view);
  view.facts = ReportFacts(report);
  return view;
}

bool IsExit(const ReportView& report) { return report.kind == "exit"; }

std::string BlamedFunction(const ReportView& report) {
  using Frame = ReportView::Frame;
  const auto find = [&](auto&& matches) {
    return std::find_if(report.frames.begin(), report.frames.end(), matches);
  };
  const auto named = [](const Frame& frame) {
    return frame.instrumented || frame.function.rfind(frame.module + "+0x", 0) != 0;
  };
  auto found = find([](const Frame& frame) { return frame.instrumented; });
  const ReportView::JavaStack& java = report.java;
  if (found == report.frames.end() && !java.own_call.empty()) return java.own_call;
  if (!report.blamed_function.empty()) return report.blamed_function;
  if (found == report.frames.end()) {
    found = find([&](const Frame& f) { return named(f) && !IsSystemModule(f.module); });
  }
  if (found == report.frames.end()) found = find(named);
  if (found == report.frames.end() && !java.calls.empty()) return WithoutFile(java.calls[0]);
  if (found == report.frames.end()) found = report.frames.begin();
  return found == report.frames.end() ? report.what : found->function;
}

std::string ProcessAndThread(const ReportView& report) {
  const std::string& process = report.process.empty() ? "?" : report.process;
  const bool main_thread = report.tid == report.pid;
  if (main_thread || report.thread.empty()) return process + (main_thread ? " (main)" : "");
  return process + " (" + report.thread + ")";
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
