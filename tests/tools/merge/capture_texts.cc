#include "tests/tools/merge/capture_texts.h"

#include <cmath>
#include <cstdio>

namespace jankbox::tools {
namespace {

using testproto::TracePacket;
using testproto::TrackEvent;

constexpr uint64_t kProcessTrack = 11, kThreadTrack = 12, kLoadTrack = 13, kQueueTrack = 14;
constexpr uint32_t kSequence = 1;
constexpr uint32_t kEventSequence = 2;  // of the app: no thread is described on it
constexpr uint64_t kRealtimeNs = 1'600'000'000'000'000'000;

TracePacket* Add(testproto::Trace* trace, uint32_t sequence) {
  TracePacket* packet = trace->add_packet();
  packet->set_trusted_packet_sequence_id(sequence);
  packet->set_sequence_flags(2);
  return packet;
}

void AddClocks(testproto::Trace* trace, uint32_t sequence, uint64_t realtime_ns) {
  TracePacket* packet = Add(trace, sequence);
  packet->set_sequence_flags(1);
  packet->set_first_packet_on_sequence(true);
  auto* snapshot = packet->mutable_clock_snapshot();
  snapshot->set_primary_trace_clock(6);
  const auto add = [&](uint32_t id, uint64_t ns) {
    auto* clock = snapshot->add_clocks();
    clock->set_clock_id(id);
    clock->set_timestamp(ns);
  };
  add(6, kBoottimeNs);
  add(3, kBoottimeNs - kBootMinusMono);
  add(1, realtime_ns);
}

TrackEvent* AddEvent(testproto::Trace* trace, uint64_t ms, uint64_t track, TrackEvent::Type type,
                     const char* name) {
  TracePacket* packet = Add(trace, kEventSequence);
  packet->set_timestamp(kBoottimeNs + ms * 1'000'000);
  TrackEvent* event = packet->mutable_track_event();
  event->set_track_uuid(track);
  event->set_type(type);
  if (name != nullptr) event->set_name(name);
  return event;
}

void AddTracks(testproto::Trace* trace) {
  auto* process = Add(trace, kSequence)->mutable_track_descriptor();
  process->set_uuid(kProcessTrack);
  process->mutable_process()->set_pid(kAppPid);
  process->mutable_process()->set_process_name("app");
  auto* thread = Add(trace, kSequence)->mutable_track_descriptor();
  thread->set_uuid(kThreadTrack);
  thread->set_parent_uuid(kProcessTrack);
  thread->mutable_thread()->set_pid(kAppPid);
  thread->mutable_thread()->set_tid(kAppPid);
  thread->mutable_thread()->set_thread_name("app (main) [x]");
  auto* load = Add(trace, kSequence)->mutable_track_descriptor();
  load->set_uuid(kLoadTrack);
  load->set_parent_uuid(kProcessTrack);
  load->set_name("load");
  auto* queue = Add(trace, kSequence)->mutable_track_descriptor();
  queue->set_uuid(kQueueTrack);
  queue->set_parent_uuid(kProcessTrack);
  queue->set_name("queue");
  queue->mutable_counter();
}

}  // namespace

testproto::Trace AppTraceByHand() {
  testproto::Trace trace;
  AddClocks(&trace, kSequence, kRealtimeNs);
  AddTracks(&trace);
  TracePacket* first = Add(&trace, kEventSequence);
  first->set_sequence_flags(1);
  first->set_first_packet_on_sequence(true);
  const auto begin = TrackEvent::TYPE_SLICE_BEGIN, end = TrackEvent::TYPE_SLICE_END;
  AddEvent(&trace, 0, kThreadTrack, begin, "outer");
  AddEvent(&trace, 10, kThreadTrack, begin, "inner");
  AddEvent(&trace, 20, kThreadTrack, end, nullptr);
  AddEvent(&trace, 30, kThreadTrack, begin, "shared");
  AddEvent(&trace, 40, kThreadTrack, end, nullptr);
  AddEvent(&trace, 50, kQueueTrack, TrackEvent::TYPE_COUNTER, nullptr)->set_counter_value(5);
  AddEvent(&trace, 60, kLoadTrack, begin, "load");
  AddEvent(&trace, 70, kLoadTrack, end, nullptr);
  AddEvent(&trace, 100, kThreadTrack, end, nullptr);
  return trace;
}

testproto::Trace PerfettoCapture(uint64_t realtime_shift_ns) {
  testproto::Trace trace;
  AddClocks(&trace, kSequence, kRealtimeNs + realtime_shift_ns);
  // Another process under the app's identifiers.
  auto* process = Add(&trace, kSequence)->mutable_track_descriptor();
  process->set_uuid(kProcessTrack);
  process->mutable_process()->set_pid(kAppPid);
  TracePacket* packet = Add(&trace, kSequence);
  packet->mutable_system_info()->mutable_utsname()->set_release("6.1.0");
  auto* bundle = Add(&trace, kSequence)->mutable_ftrace_events();
  bundle->set_cpu(1);
  const auto add = [&](uint64_t us, const char* text) {
    auto* event = bundle->add_event();
    event->set_timestamp(kBoottimeNs + us * 1000);
    event->set_pid(kAppPid);
    event->mutable_print()->set_buf(text);
  };
  add(12'000, "B|4001|kernel\n");
  add(15'000, "E|4001\n");
  add(30'004, "B|4001|shared\n");
  add(39'990, "E|4001\n");
  return trace;
}

std::string Line(const std::string& task, double ms, const std::string& rest,
                 int64_t clock_offset_ns) {
  const uint64_t ns = kBoottimeNs + static_cast<uint64_t>(clock_offset_ns) +
                      static_cast<uint64_t>(std::llround(ms * 1e6));
  char stamp[64];
  snprintf(stamp, sizeof(stamp),
           " [001] d..2. %5llu.%06llu: ", static_cast<unsigned long long>(ns / 1'000'000'000),
           static_cast<unsigned long long>(ns % 1'000'000'000 / 1000));
  return task + stamp + rest + "\n";
}

}  // namespace jankbox::tools
