#include "report/frames_json.h"

namespace jankbox {
namespace {

using nlohmann::json;

double Milliseconds(uint64_t ns) { return static_cast<double>(ns) / 1e6; }

template <typename Phases>
json PhasesToJson(const Phases& phases) {
  return {{"input_ms", Milliseconds(phases.input_ns())},
          {"animation_ms", Milliseconds(phases.animation_ns())},
          {"insets_ms", Milliseconds(phases.insets_ns())},
          {"traversal_ms", Milliseconds(phases.traversal_ns())},
          {"commit_ms", Milliseconds(phases.commit_ns())}};
}

json SceneToJson(const proto::SceneFrames& scene) {
  return {{"scene", scene.scene()},
          {"frames", scene.frames()},
          {"from_ns", scene.from_ns()},
          {"to_ns", scene.to_ns()},
          {"fps", static_cast<double>(scene.fps_milli()) / 1000},
          {"bands",
           {{"best", scene.best()},
            {"normal", scene.normal()},
            {"middle", scene.middle()},
            {"high", scene.high()},
            {"frozen", scene.frozen()}}},
          {"dropped", scene.dropped()},
          {"janky", scene.janky()},
          {"above_700_ms", scene.above_700_ms()},
          {"discarded", scene.discarded()},
          {"presented_late", scene.presented_late()},
          {"phases", PhasesToJson(scene)},
          {"jitter_ms", Milliseconds(scene.jitter_ns())},
          {"p50_ms", Milliseconds(scene.p50_ns())},
          {"p90_ms", Milliseconds(scene.p90_ns())},
          {"p95_ms", Milliseconds(scene.p95_ns())},
          {"p99_ms", Milliseconds(scene.p99_ns())},
          {"interval_ms", Milliseconds(scene.interval_ns())},
          {"source", scene.source()}};
}

}  // namespace

json JankyFrameToJson(const proto::Report& report) {
  if (!report.has_janky_frame()) return nullptr;
  const proto::JankyFrame& frame = report.janky_frame();
  return {{"vsync_id", frame.vsync_id()},
          {"total_ms", Milliseconds(frame.total_ns())},
          {"jitter_ms", Milliseconds(frame.jitter_ns())},
          {"deadline_overrun_ms", Milliseconds(frame.deadline_overrun_ns())},
          {"phases", PhasesToJson(frame)},
          {"band", frame.band()},
          {"scene", frame.scene()},
          {"presented_late_ms", Milliseconds(frame.presented_late_ns())}};
}

json ScenesToJson(const proto::Report& report) {
  json scenes = json::array();
  for (const proto::SceneFrames& scene : report.scenes()) scenes.push_back(SceneToJson(scene));
  return scenes;
}

json StatesToJson(const proto::Report& report) {
  json states = json::array();
  for (const proto::State& state : report.states()) {
    states.push_back({{"key", state.key()},
                      {"value", state.value()},
                      {"from_ns", state.from_ns()},
                      {"to_ns", state.to_ns()}});
  }
  return states;
}

}  // namespace jankbox
