#include "tools/reports/report_facts.h"

#include <cstdarg>
#include <cstdint>
#include <cstdio>

#include "tools/reports/duration_text.h"
#include "tools/reports/end_text.h"
#include "tools/reports/json_field.h"

namespace jankbox::tools {
namespace {

using nlohmann::json;

void AddWaits(const json& report, std::vector<ReportFact>* facts) {
  const double idle_ms = JsonNumber(report, "idle_callback_ms");
  if (idle_ms > 0) {
    facts->push_back({"Idle", "the idle callback " + JsonText(report, "idle_callback") + " took " +
                                  DurationText(idle_ms)});
  }
  const double input_ms = JsonNumber(report, "input_wait_ms");
  if (input_ms > 0) facts->push_back({"Input", "an event waited for " + DurationText(input_ms)});
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
    const double ms = JsonNumber(phases, (std::string(phase) + "_ms").c_str());
    if (ms >= 0.05) text += (text.empty() ? ": " : ", ") + Format("%s %.1f ms", phase, ms);
  }
  return text;
}

// Only if part of the incident is missing; a report of 0.1 does not say.
void AddCoverage(const json& report, std::vector<ReportFact>* facts) {
  const double covered_ms = JsonNumber(report, "covered_ms");
  const double duration_ms = JsonNumber(report, "duration_ms");
  if (!JsonField(report, "covered_ms").is_number() || covered_ms >= duration_ms * 0.99) return;
  facts->push_back({"Covered", "recorded events cover " + DurationText(covered_ms) + " of " +
                                   DurationText(duration_ms)});
}

// Time between start and end that is no part of the duration; the notes have its causes.
void AddHeld(const json& report, std::vector<ReportFact>* facts) {
  const double held_ms = JsonNumber(report, "held_ms");
  if (held_ms < 1) return;
  facts->push_back(
      {"Stopped", DurationText(held_ms) +
                      " more passed between start and end, in which the process or the "
                      "machine was stopped"});
}

void AddEnd(const json& report, std::vector<ReportFact>* facts) {
  const std::string end = EndText(JsonText(report, "end_reason"));
  const std::string evidence = JsonText(report, "end_evidence");
  if (!end.empty()) {
    facts->push_back({"End", end + (evidence.empty() ? "" : " (" + evidence + ")")});
  }
  std::string ends;
  for (const json& count : JsonField(report, "ends")) {
    ends += (ends.empty() ? "" : ", ") + JsonText(count, "reason") + " " +
            std::to_string(JsonCount(count, "count"));
  }
  if (!ends.empty()) facts->push_back({"End", "in this folder so far: " + ends});
}

void AddFrames(const json& report, std::vector<ReportFact>* facts) {
  const std::string source = JsonText(report, "frame_source");
  const json& janky = JsonField(report, "janky_frame");
  if (janky.is_object()) {
    facts->push_back(
        {"Frames", Format("frame of %.1f ms, started %.1f ms after its vsync",
                          JsonNumber(janky, "total_ms"), JsonNumber(janky, "jitter_ms")) +
                       PhasesText(JsonField(janky, "phases"))});
  }
  for (const json& scene : JsonField(report, "scenes")) {
    facts->push_back(
        {"Frames",
         SceneName(JsonText(scene, "scene")) +
             Format(
                 "%llu frames, %.1f fps, %llu dropped, %llu janky, p50 %.1f ms, p95 %.1f ms, p99 "
                 "%.1f ms",
                 static_cast<unsigned long long>(JsonCount(scene, "frames")),
                 JsonNumber(scene, "fps"),
                 static_cast<unsigned long long>(JsonCount(scene, "dropped")),
                 static_cast<unsigned long long>(JsonCount(scene, "janky")),
                 JsonNumber(scene, "p50_ms"), JsonNumber(scene, "p95_ms"),
                 JsonNumber(scene, "p99_ms")) +
             (source.empty() ? "" : " (" + JsonText(scene, "source") + ")")});
  }
  std::string states;
  for (const json& state : JsonField(report, "states")) {
    states +=
        (states.empty() ? "" : ", ") + JsonText(state, "key") + " = " + JsonText(state, "value");
  }
  if (!states.empty()) facts->push_back({"Frames", states});
}

void AddRenderWork(const json& report, std::vector<ReportFact>* facts) {
  for (const json& work : JsonField(report, "render_work")) {
    const uint64_t count = JsonCount(work, "count");
    std::string line = DurationText(JsonNumber(work, "duration_ms")) + " " + JsonText(work, "name");
    if (count > 1) line += " x " + std::to_string(count);
    const auto tid = static_cast<int64_t>(JsonCount(work, "tid"));
    if (tid != static_cast<int64_t>(JsonCount(report, "tid")))
      line += " (tid " + std::to_string(tid) + ")";
    facts->push_back({"Render", line});
  }
}

void AddExtra(const json& report, std::vector<ReportFact>* facts) {
  for (const json& method : JsonField(report, "extra")) {
    const double usual_ms = JsonNumber(method, "usual_ms");
    facts->push_back({"Extra", JsonText(method, "function") + " took " +
                                   DurationText(JsonNumber(method, "extra_ms")) +
                                   (usual_ms > 0 ? " more than its usual " + DurationText(usual_ms)
                                                 : ", usually not called")});
  }
}

}  // namespace

std::vector<ReportFact> ReportFacts(const json& report) {
  std::vector<ReportFact> facts;
  AddEnd(report, &facts);
  AddHeld(report, &facts);
  AddWaits(report, &facts);
  AddFrames(report, &facts);
  AddRenderWork(report, &facts);
  AddExtra(report, &facts);
  AddCoverage(report, &facts);
  return facts;
}

}  // namespace jankbox::tools
