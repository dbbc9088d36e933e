#include "report/report_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "report/frames_json.h"

namespace jankbox {
namespace {

using nlohmann::json;

double Milliseconds(uint64_t ns) { return static_cast<double>(ns) / 1e6; }

// "0x496e".
std::string Hexadecimal(uint64_t number) {
  char text[20];
  snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

template <typename Frames>
json FramesToJson(const Frames& stack) {
  json frames = json::array();
  for (const proto::Frame& frame : stack) {
    frames.push_back({{"function", frame.function()},
                      {"module", frame.module()},
                      {"rel_pc", frame.rel_pc()},
                      {"build_id", frame.build_id()}});
  }
  return frames;
}

json SharesToJson(const proto::Verdict& verdict) {
  json shares = json::array();
  for (const proto::Verdict::Share& share : verdict.shares()) {
    shares.push_back({{"name", share.name()},
                      {"ms", Milliseconds(share.ns())},
                      {"source", share.source()},
                      {"estimate", share.estimate()},
                      {"detail", share.detail()}});
  }
  return shares;
}

// Null where nobody is known to have held a lock.
json LockOwnerToJson(const proto::Verdict& verdict) {
  if (verdict.lock_owner_tid() == 0) return nullptr;
  return {{"tid", verdict.lock_owner_tid()},
          {"thread", verdict.lock_owner()},
          {"frames", FramesToJson(verdict.lock_owner_frames())}};
}

json VerdictToJson(const proto::Verdict& verdict) {
  return {{"running_ms", Milliseconds(verdict.running_ns())},
          {"runnable_ms", Milliseconds(verdict.runnable_ns())},
          {"lock_ms", Milliseconds(verdict.lock_ns())},
          {"disk_ms", Milliseconds(verdict.disk_ns())},
          {"fault_ms", Milliseconds(verdict.fault_ns())},
          {"ipc_ms", Milliseconds(verdict.ipc_ns())},
          {"gc_ms", Milliseconds(verdict.gc_ns())},
          {"sleeping_ms", Milliseconds(verdict.sleeping_ns())},
          {"blocked_ms", Milliseconds(verdict.blocked_ns())},
          {"unknown_ms", Milliseconds(verdict.unknown_ns())},
          {"summary", verdict.summary()},
          {"sources", verdict.sources()},
          {"shares", SharesToJson(verdict)},
          {"lock_owner", LockOwnerToJson(verdict)}};
}

// "2026-03-01T12:00:00.123Z".
std::string Rfc3339(uint64_t realtime_ns) {
  const time_t seconds = static_cast<time_t>(realtime_ns / 1'000'000'000);
  tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  const size_t length = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
  snprintf(text + length, sizeof(text) - length, ".%03uZ",
           static_cast<unsigned>(realtime_ns / 1'000'000 % 1000));
  return text;
}

json WindowToJson(const proto::Window& window) {
  const uint64_t length = window.to_ns() > window.from_ns() ? window.to_ns() - window.from_ns() : 0;
  const uint64_t to = window.to_realtime_ns();
  return {{"from", Rfc3339(to > length ? to - length : 0)},
          {"to", Rfc3339(to)},
          {"from_ns", window.from_ns()},
          {"to_ns", window.to_ns()}};
}

// All counters, also those that the schema gains later.
json LossesToJson(const proto::Losses& losses) {
  json counters = json::object();
  const google::protobuf::Descriptor* descriptor = losses.GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const google::protobuf::FieldDescriptor* field = descriptor->field(i);
    counters[field->name()] = losses.GetReflection()->GetUInt64(losses, field);
  }
  return counters;
}

json SelfCostToJson(const proto::SelfCost& cost) {
  return {{"cpu_ms", Milliseconds(cost.cpu_ns())},
          {"ring_bytes", cost.ring_bytes()},
          {"start_us", cost.start_us()},
          {"recording_ms", Milliseconds(cost.recording_ns())},
          {"uptime_ms", Milliseconds(cost.uptime_ns())},
          {"cpu_budget_permille", cost.cpu_budget_permille()}};
}

// Moments as in "window": wall clock, and the trace's own.
json RecordingToJson(const proto::Report& report) {
  json parts = json::array();
  const proto::Window& window = report.window();
  const auto wall = [&window](uint64_t boottime_ns) {
    return Rfc3339(window.to_realtime_ns() - (window.to_ns() - boottime_ns));
  };
  for (const proto::Recording& part : report.recording()) {
    parts.push_back({{"mode", part.mode()},
                     {"reason", part.reason()},
                     {"from", wall(part.from_ns())},
                     {"to", wall(part.to_ns())},
                     {"from_ns", part.from_ns()},
                     {"to_ns", part.to_ns()}});
  }
  return parts;
}

// Tags in hexadecimal, as atrace's property has them. null: no library, or left alone.
json AtraceToJson(const proto::Report& report) {
  if (!report.has_atrace()) return nullptr;
  const proto::Atrace& atrace = report.atrace();
  return {{"state", atrace.state()},
          {"tags", Hexadecimal(atrace.tags())},
          {"added_tags", Hexadecimal(atrace.added_tags())},
          {"categories", atrace.categories()},
          {"library", atrace.library()},
          {"start_ms", Milliseconds(atrace.start_ns())}};
}

json ThreadsToJson(const proto::Report& report) {
  json threads = json::array();
  for (const proto::ThreadAtAnr& thread : report.threads()) {
    threads.push_back({{"tid", thread.tid()},
                       {"name", thread.name()},
                       {"state", thread.state()},
                       {"wait", thread.wait()},
                       {"waits_for_tid", thread.waits_for_tid()},
                       {"deadlocked", thread.deadlocked()},
                       {"frames", FramesToJson(thread.frames())}});
  }
  return threads;
}

json RefusalsToJson(const proto::Report& report) {
  json refusals = json::array();
  for (const proto::Refusal& refusal : report.refusals()) {
    refusals.push_back(
        {{"reason", refusal.reason()}, {"count", refusal.count()}, {"last_ns", refusal.last_ns()}});
  }
  return refusals;
}

json MethodsToJson(const proto::Report& report) {
  json methods = json::array();
  for (const proto::Method& method : report.methods()) {
    methods.push_back({{"function", method.function()},
                       {"depth", method.depth()},
                       {"count", method.count()},
                       {"duration_ms", Milliseconds(method.duration_ns())},
                       {"open", method.open()}});
  }
  return methods;
}

json RenderWorkToJson(const proto::Report& report) {
  json list = json::array();
  for (const proto::RenderWork& work : report.render_work()) {
    list.push_back({{"name", work.name()},
                    {"tid", work.tid()},
                    {"count", work.count()},
                    {"duration_ms", Milliseconds(work.duration_ns())},
                    {"open", work.open()}});
  }
  return list;
}

json ExtraToJson(const proto::Report& report) {
  json extra = json::array();
  for (const proto::Extra& method : report.extra()) {
    extra.push_back({{"function", method.function()},
                     {"extra_ms", Milliseconds(method.extra_ns())},
                     {"usual_ms", Milliseconds(method.usual_ns())}});
  }
  return extra;
}

json StartupToJson(const proto::Report& report) {
  if (!report.has_startup()) return nullptr;
  const proto::Startup& startup = report.startup();
  return {{"cold", startup.cold()},
          {"recorder_ms", Milliseconds(startup.recorder_ns())},
          {"first_dispatch_ms", Milliseconds(startup.first_dispatch_ns())},
          {"first_frame_ms", Milliseconds(startup.first_frame_ns())},
          {"drawn_ms", Milliseconds(startup.drawn_ns())}};
}

json AttributesToJson(const proto::Report& report) {
  json attributes = json::array();
  for (const proto::Attribute& attribute : report.attributes()) {
    attributes.push_back({{"key", attribute.key()}, {"value", attribute.value()}});
  }
  return attributes;
}

json MessagesToJson(const proto::History& history,
                    const google::protobuf::RepeatedPtrField<proto::LoopMessage>& messages) {
  json list = json::array();
  for (const proto::LoopMessage& message : messages) {
    const int name = static_cast<int>(message.name()) - 1;
    list.push_back({{"what", name >= 0 && name < history.names_size() ? history.names(name) : ""},
                    {"before_ms", Milliseconds(message.before_ns())},
                    {"wall_ms", Milliseconds(message.wall_ns())},
                    {"count", message.count()}});
  }
  return list;
}

// null: nothing was dispatched before.
json HistoryToJson(const proto::Report& report) {
  if (!report.has_history()) return nullptr;
  const proto::History& history = report.history();
  return {{"from_ns", history.from_ns()},
          {"count", history.count()},
          {"busy_ms", Milliseconds(history.busy_ns())},
          {"left_out", history.left_out()},
          {"longest", MessagesToJson(history, history.longest())},
          {"last", MessagesToJson(history, history.last())}};
}

}  // namespace

std::string_view KindName(proto::Kind kind) {
  switch (kind) {
    case proto::SLOW_MESSAGE:
      return "slow_message";
    case proto::SLOW_METHOD:
      return "slow_method";
    case proto::JANK:
      return "jank";
    case proto::STARTUP:
      return "startup";
    case proto::ANR:
      return "anr";
    case proto::LAG:
      return "lag";
    case proto::RECOVERED:
      return "recovered";
    case proto::MANUAL:
      return "manual";
    case proto::INPUT_LATENCY:
      return "input_latency";
    case proto::CUSTOM:
      return "custom";
    default:
      return "unknown";
  }
}

json ReportToJson(const proto::Report& report) {
  return {{"id", report.id()},
          {"revision", report.revision()},
          {"kind", KindName(report.kind())},
          {"duration_ms", Milliseconds(report.duration_ns())},
          {"ongoing", report.ongoing()},
          {"what", report.what()},
          {"process", report.process()},
          {"pid", report.pid()},
          {"thread", report.thread()},
          {"tid", report.tid()},
          {"fingerprint", report.fingerprint()},
          {"verdict", VerdictToJson(report.verdict())},
          {"top_frames", FramesToJson(report.top_frames())},
          {"window", WindowToJson(report.window())},
          {"losses", LossesToJson(report.losses())},
          {"self_cost", SelfCostToJson(report.self_cost())},
          {"sampler", report.sampler()},
          {"loop", report.loop()},
          {"sample_count", report.sample_count()},
          {"app_name", report.app_name()},
          {"app_version", report.app_version()},
          {"os", report.os()},
          {"sdk_version", report.sdk_version()},
          {"frame_dropped", report.frame_dropped()},
          {"frame_interval_ms", Milliseconds(report.frame_interval_ns())},
          {"clock", report.clock()},
          {"ring_in_memory_only", report.ring_in_memory_only()},
          {"notes", report.notes()},
          {"sched_switches", report.sched_switches()},
          {"recording", RecordingToJson(report)},
          {"clock_error_ms", Milliseconds(report.clock_error_ns())},
          {"atrace", AtraceToJson(report)},
          {"refusals", RefusalsToJson(report)},
          {"history", HistoryToJson(report)},
          {"idle_callback", report.idle_callback()},
          {"idle_callback_ms", Milliseconds(report.idle_callback_ns())},
          {"input_wait_ms", Milliseconds(report.input_wait_ns())},
          {"frame_source", report.frame_source()},
          {"janky_frame", JankyFrameToJson(report)},
          {"scenes", ScenesToJson(report)},
          {"states", StatesToJson(report)},
          {"uncounted_frames", report.uncounted_frames()},
          {"render_work", RenderWorkToJson(report)},
          {"held_ms", Milliseconds(report.held_ns())},
          {"background", report.background()},
          {"anr_limit_ms", Milliseconds(report.anr_limit_ns())},
          {"threads", ThreadsToJson(report)},
          {"threads_without_stack", report.threads_without_stack()},
          {"threads_not_listed", report.threads_not_listed()},
          {"sigquits", report.sigquits()},
          {"methods", MethodsToJson(report)},
          {"methods_left_out", report.methods_left_out()},
          {"exemplar", report.exemplar()},
          {"repeat_count", report.repeat_count()},
          {"attributes", AttributesToJson(report)},
          {"startup", StartupToJson(report)},
          {"extra", ExtraToJson(report)},
          {"healthy_messages", report.healthy_messages()},
          {"healthy_median_ms", Milliseconds(report.healthy_median_ns())}};
}

}  // namespace jankbox
