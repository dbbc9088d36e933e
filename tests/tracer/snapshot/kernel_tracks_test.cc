// The kernel's side of a window, written and read back by the strict reader.
#include "tracer/snapshot/kernel_tracks.h"

#include <gmock/gmock.h>
#include <string.h>

#include <algorithm>

#include "tests/tracer/snapshot/test_window.h"

namespace jankbox::testing {
namespace {

constexpr uint64_t kFrom = 10'000'000'000;
constexpr int32_t kOther = 77;

KernelEvent Switch(uint64_t time, uint16_t cpu, int32_t prev, int64_t state, int32_t next) {
  KernelEvent event;
  event.time = time;
  event.cpu = cpu;
  event.tid = prev;
  event.sched.prev_pid = prev;
  event.sched.prev_state = state;
  event.sched.next_pid = next;
  snprintf(event.sched.prev_comm, kCommBytes, "thread %d", prev);
  snprintf(event.sched.next_comm, kCommBytes, "thread %d", next);
  return event;
}

KernelEvent Fault(uint64_t time, int32_t tid) {
  KernelEvent event;
  event.time = time;
  event.tid = tid;
  event.kind = KernelEventKind::kPageFault;
  return event;
}

KernelEvent Block(uint64_t time, KernelEventKind kind, uint32_t bytes) {
  KernelEvent event;
  event.time = time;
  event.tid = kTestPid;
  event.kind = kind;
  event.block = {};
  event.block.dev = 254u << 20 | 3;
  event.block.sector = uint64_t{1} << 33;
  event.block.bytes = bytes;
  strcpy(event.block.rwbs, "RA");
  return event;
}

KernelWindow Ftrace(std::vector<KernelEvent> events) {
  KernelWindow window;
  window.source = KernelWindow::Source::kFtrace;
  window.from_ns = kFrom;
  window.to_ns = kFrom + 1'000'000'000;
  window.trace_clock = "boot";
  window.clock_error_ns = 1'234;
  window.own_threads = {kTestPid, kTestPid + 1};
  window.events = std::move(events);
  return window;
}

TestSnapshot Write(const KernelWindow& kernel) {
  const RingWindow window = MakeWindow(0, 1'000'000'000, {MakeThread(kTestPid, {})});
  const MethodNames names = TestNames();
  SnapshotInput input = MakeInput(window, names);
  input.kernel = &kernel;
  return Snapshot(input);
}

const ReadSlice& SourceSlice(const TraceContent& trace) {
  static const ReadSlice kNone;
  for (const ReadSlice& slice : trace.slices) {
    if (slice.track == "Jankbox kernel events") return slice;
  }
  ADD_FAILURE() << "no slice says what it rests on";
  return kNone;
}

TEST(KernelTracks, SwitchesAreReadBackByCpu) {
  const TestSnapshot snapshot = Write(
      Ftrace({Switch(kFrom + 10, 1, 0, 0, kTestPid), Switch(kFrom + 15, 0, 0, 0, kTestPid + 1),
              Switch(kFrom + 40, 1, kTestPid, 0x100, kOther),
              Switch(kFrom + 90, 1, kOther, 0, kTestPid)}));
  EXPECT_EQ(snapshot.stats.kernel_events, 4u);
  const TraceContent& trace = snapshot.trace;
  EXPECT_FALSE(trace.kernel_release.empty());
  ASSERT_EQ(trace.sched.size(), 4u);
  EXPECT_EQ(trace.sched[0].tid, kTestPid + 1);
  EXPECT_TRUE(trace.sched[0].open);
  EXPECT_EQ(trace.sched[1].ts, kFrom + 10);
  EXPECT_EQ(trace.sched[1].dur, 30u);
  EXPECT_EQ(trace.sched[1].end_state, "R+");
  EXPECT_EQ(trace.sched[2].comm, "thread 77");
  EXPECT_TRUE(trace.lossy_cpus.empty());
  // A thread that recorded nothing belongs to the process all the same; the other one does not.
  EXPECT_TRUE(trace.threads.contains(kTestPid + 1));
  EXPECT_FALSE(trace.threads.contains(kOther));
}

TEST(KernelTracks, ThreadsOfOtherProgramsAreInOneProcess) {
  const TraceContent trace = Write(Ftrace({Switch(kFrom + 10, 1, 0, 0, kTestPid),
                                           Switch(kFrom + 40, 1, kTestPid, 0, kOther),
                                           Switch(kFrom + 90, 1, kOther, 0, kTestPid)}))
                                 .trace;
  ASSERT_EQ(trace.other_processes.size(), 1u);
  const auto& [pid, name] = *trace.other_processes.begin();
  EXPECT_EQ(name, "Other programs");
  EXPECT_GT(pid, 1 << 22) << "a pid that a process can have";
  // Neither the process's own threads nor the idle task.
  EXPECT_EQ(trace.other_threads, (std::map<int32_t, int32_t>{{kOther, pid}}));
  EXPECT_TRUE(trace.ranked);
}

TEST(KernelTracks, WithoutOtherProgramsThereIsNoProcessOfThem) {
  const TraceContent trace = Write(Ftrace({Switch(kFrom + 10, 1, 0, 0, kTestPid)})).trace;
  EXPECT_TRUE(trace.other_processes.empty());
}

KernelEvent Exit(uint64_t time, int32_t tid) {
  KernelEvent event;
  event.time = time;
  event.tid = tid;
  event.kind = KernelEventKind::kExit;
  event.wake = {"name", tid, 120, 0};
  return event;
}

TEST(KernelTracks, SourceEndsWithTheProcess) {
  const KernelEvent in = Switch(kFrom + 10, 1, 0, 0, kTestPid);
  const auto length = [](std::vector<KernelEvent> events) {
    return SourceSlice(Write(Ftrace(std::move(events))).trace).dur;
  };
  EXPECT_EQ(length({in, Exit(kFrom + 500, kTestPid + 1), Exit(kFrom + 700, kTestPid),
                    Switch(kFrom + 701, 1, kTestPid, 0x10, 0)}),
            700u);
  // A thread ended, the process did not; the main thread ended, another one runs on.
  EXPECT_EQ(length({in, Exit(kFrom + 500, kTestPid + 1)}), 1'000'000'000u);
  EXPECT_EQ(length({in, Exit(kFrom + 500, kTestPid), Switch(kFrom + 501, 1, kTestPid, 0x10, 0),
                    Switch(kFrom + 900, 1, 0, 0, kTestPid + 1)}),
            1'000'000'000u);
}

TEST(KernelTracks, TracksOfAThreadAreInTheOrderOfTheirNames) {
  StackSample sample;
  sample.tid = kTestPid;
  sample.source = SampleSource::kPerf;
  sample.depth = 1;
  sample.pcs[0] = 1;
  const RingWindow window =
      MakeWindow(0, 1'000'000'000, {MakeThread(kTestPid, {MakeChunk({Sample(sample, 500)})})});
  const MethodNames names = TestNames();
  SnapshotInput input = MakeInput(window, names);
  KernelWindow kernel = Ftrace({Fault(kFrom + 1'000, kTestPid)});
  kernel.source = KernelWindow::Source::kOwnSwitches;
  kernel.page_fault_cost_ns = 1'500;
  kernel.off_cpu = {{kTestPid, kFrom + 10, kFrom + 20, true}};
  input.kernel = &kernel;
  const TraceContent trace = Snapshot(input).trace;
  std::vector<std::string> tracks;
  for (const uint64_t uuid : trace.tracks_in_order) {
    const ReadTrack& track = trace.tracks.at(uuid);
    const auto parent = trace.tracks.find(track.parent_uuid);
    if (parent != trace.tracks.end() && parent->second.tid == kTestPid) {
      tracks.push_back(track.name);
    }
  }
  EXPECT_THAT(tracks, ::testing::ElementsAre("off the CPU", "sampled stack",
                                             "soft page faults (estimate)"));
  EXPECT_TRUE(std::is_sorted(tracks.begin(), tracks.end()));
}

TEST(KernelTracks, SourceAndErrorAreSaid) {
  KernelWindow window = Ftrace({Switch(kFrom + 10, 1, 0, 0, kTestPid)});
  window.lost_events = 5;
  window.lossy_cpus = {1, 3};
  const TraceContent trace = Write(window).trace;
  const ReadSlice& source = SourceSlice(trace);
  EXPECT_EQ(source.name, "ftrace");
  EXPECT_EQ(source.ts, kFrom);
  EXPECT_EQ(source.dur, 1'000'000'000u);
  EXPECT_EQ(source.annotations.at("trace_clock"), "boot");
  EXPECT_EQ(source.annotations.at("clock_error_ns"), "1234");
  EXPECT_EQ(source.annotations.at("lost_events"), "5");
  EXPECT_EQ(trace.lossy_cpus, (std::set<uint32_t>{1, 3}));
}

TEST(KernelTracks, ManyEventsAreCutIntoBundles) {
  std::vector<KernelEvent> events;
  for (uint64_t i = 0; i < 3'000; ++i) {
    const int32_t from = kTestPid + static_cast<int32_t>(i % 2);
    events.push_back(Switch(kFrom + i, 0, from, 1, kTestPid + static_cast<int32_t>((i + 1) % 2)));
  }
  const TestSnapshot snapshot = Write(Ftrace(events));
  EXPECT_EQ(snapshot.stats.kernel_events, 3'000u);
  EXPECT_EQ(snapshot.trace.sched.size(), 3'000u);
}

TEST(KernelTracks, RequestsAreMatchedByDeviceAndSector) {
  const TraceContent trace =
      Write(Ftrace({Block(kFrom + 100, KernelEventKind::kBlockIssue, 4096),
                    Block(kFrom + 600, KernelEventKind::kBlockComplete, 4096)}))
          .trace;
  ASSERT_EQ(trace.block.size(), 1u);
  EXPECT_EQ(trace.block[0].dur, 500u);
  EXPECT_EQ(trace.block[0].bytes, 4096u);
  EXPECT_EQ(trace.block[0].tid, kTestPid);
  EXPECT_FALSE(trace.block[0].open);
}

TEST(KernelTracks, EveryKindOfEventIsWritten) {
  std::vector<KernelEvent> events;
  for (KernelEventKind kind :
       {KernelEventKind::kWaking, KernelEventKind::kWakeupNew, KernelEventKind::kNewTask,
        KernelEventKind::kRename, KernelEventKind::kExit}) {
    KernelEvent event;
    event.time = kFrom + events.size();
    event.tid = kTestPid;
    event.kind = kind;
    const bool task = kind == KernelEventKind::kNewTask || kind == KernelEventKind::kRename;
    if (task) event.task = {"old", "new", 0x10000, kTestPid + 1, -1};
    if (!task) event.wake = {"name", kTestPid + 1, 120, 1};
    events.push_back(event);
  }
  const TestSnapshot snapshot = Write(Ftrace(events));
  EXPECT_EQ(snapshot.trace.ftrace_events, 5u);
  ASSERT_EQ(snapshot.trace.wakings.size(), 1u);
  EXPECT_EQ(snapshot.trace.wakings[0].tid, kTestPid + 1);
  EXPECT_EQ(snapshot.trace.wakings[0].waker, kTestPid);
}

TEST(KernelTracks, FaultsAreSlicesMarkedAsEstimates) {
  KernelWindow window = Ftrace({Fault(kFrom + 1'000, kTestPid), Fault(kFrom + 5'000, kTestPid),
                                Fault(kFrom + 9'000'000, kTestPid)});
  window.page_fault_cost_ns = 1'500;
  const TestSnapshot snapshot = Write(window);
  EXPECT_EQ(snapshot.stats.kernel_events, 0u);
  std::vector<ReadSlice> bursts;
  for (const ReadSlice& slice : snapshot.trace.slices) {
    if (slice.name == "page faults") bursts.push_back(slice);
  }
  ASSERT_EQ(bursts.size(), 2u);
  EXPECT_EQ(bursts[0].dur, 5'500u);
  EXPECT_EQ(bursts[0].annotations.at("faults"), "2");
  EXPECT_EQ(bursts[0].annotations.at("estimated_ns"), "3000");
  EXPECT_THAT(bursts[0].annotations.at("basis"), ::testing::StartsWith("estimate"));
}

TEST(KernelTracks, OwnSwitchesAreSlicesOffTheCpu) {
  KernelWindow window;
  window.source = KernelWindow::Source::kOwnSwitches;
  window.reason = "/sys/kernel/tracing: Permission denied";
  window.from_ns = kFrom;
  window.to_ns = kFrom + 1'000;
  window.off_cpu = {{kTestPid, kFrom + 10, kFrom + 20, true},
                    {kTestPid, kFrom + 30, kFrom + 90, false},
                    {kTestPid + 1, kFrom + 5, kFrom + 6, false}};
  const TraceContent trace = Write(window).trace;
  EXPECT_EQ(trace.ftrace_events, 0u);
  EXPECT_EQ(SourceSlice(trace).annotations.at("reason"), window.reason);
  std::vector<std::string> lines;
  for (const ReadSlice& slice : trace.slices) {
    if (slice.track == "off the CPU") {
      lines.push_back(slice.name + " " + std::to_string(slice.ts - kFrom) + "+" +
                      std::to_string(slice.dur));
    }
  }
  EXPECT_THAT(lines, ::testing::ElementsAre("waiting 5+1", "preempted 10+10", "waiting 30+60"));
}

TEST(FaultBursts, EstimateIsAtMostTheTimeOfTheBurst) {
  const std::vector<FaultBurst> bursts =
      FindFaultBursts({Fault(1'000, 5), Fault(1'100, 5), Fault(1'200, 5)}, 1'000);
  ASSERT_EQ(bursts.size(), 1u);
  EXPECT_EQ(bursts[0].faults, 3u);
  EXPECT_EQ(bursts[0].estimated_ns, 1'200u);
}

}  // namespace
}  // namespace jankbox::testing
