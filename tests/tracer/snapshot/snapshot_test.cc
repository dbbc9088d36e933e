// The snapshot as a file: head, frames, edges of the interface.
#include "tracer/snapshot/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include "tests/tracer/snapshot/test_window.h"

namespace jankbox::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TestEvent Frame(uint64_t vsync, uint64_t deadline, uint64_t interval, uint64_t start,
                uint64_t end) {
  return {EventKind::kFrame, 0, end, {vsync, deadline, interval, start, end}};
}

std::vector<std::string> FrameLines(const TraceContent& trace) {
  std::vector<std::string> lines;
  for (const ReadSurfaceFrame& frame : trace.frames) {
    lines.push_back((frame.actual ? "actual " : "expected ") + std::to_string(frame.token) + " " +
                    std::to_string(frame.ts - kBoottimeOffsetNs) + "+" + std::to_string(frame.dur) +
                    " present " + std::to_string(frame.present_type) + " jank " +
                    std::to_string(frame.jank_type));
  }
  return lines;
}

TEST(Snapshot, EmptyWindowIsATraceOfTheProcess) {
  const TestSnapshot snapshot = Snapshot(MakeWindow(1000, 2000, {MakeThread(11, {})}));
  EXPECT_EQ(snapshot.trace.pid, kTestPid);
  EXPECT_EQ(snapshot.trace.process_name, "com.example");
  EXPECT_EQ(snapshot.trace.process_start_ns, 77);
  EXPECT_EQ(snapshot.trace.threads.size(), 1u);
  EXPECT_THAT(snapshot.trace.slices, IsEmpty());
  EXPECT_EQ(snapshot.stats.slices, 0u);
}

TEST(Snapshot, FirstPacketGivesTheKernelsClocks) {
  const TestSnapshot snapshot = Snapshot(MakeWindow(1000, 2000, {}));
  EXPECT_EQ(snapshot.trace.clocks.at(3), 2000u);
  EXPECT_EQ(snapshot.trace.clocks.at(6), 2000 + kBoottimeOffsetNs);
  EXPECT_EQ(snapshot.trace.clocks.at(1), 1'700'000'000'000'002'000u);
}

TEST(Snapshot, FramesBecomeAFrameTimeline) {
  const TestSnapshot snapshot = Snapshot(MakeWindow(
      1000, 2000,
      {MakeThread(11, {MakeChunk({Frame(1100, 1116, 16, 1102, 1110), Frame(1116, 0, 16, 1120, 1180),
                                  Frame(0, 0, 16, 1200, 1216)},
                                 1050)})}));
  EXPECT_THAT(
      FrameLines(snapshot.trace),
      ElementsAre("expected 1 1100+16 present 0 jank 0", "actual 1 1102+8 present 1 jank 1",
                  "expected 2 1116+16 present 0 jank 0", "actual 2 1120+60 present 2 jank 64",
                  "expected 3 1200+16 present 0 jank 0", "actual 3 1200+16 present 1 jank 1"));
  EXPECT_EQ(snapshot.trace.frames[1].layer, "com.example");
  EXPECT_EQ(snapshot.trace.frames[1].pid, kTestPid);
  EXPECT_TRUE(snapshot.trace.frames[1].on_time_finish);
  EXPECT_FALSE(snapshot.trace.frames[3].on_time_finish);
}

TEST(Snapshot, FramesOutsideTheWindowAreLeftOut) {
  const TestSnapshot snapshot = Snapshot(MakeWindow(
      1000, 2000,
      {MakeThread(
          11, {MakeChunk({Frame(900, 916, 16, 900, 910), Frame(1990, 2006, 16, 1990, 2001)})})}));
  EXPECT_THAT(snapshot.trace.frames, IsEmpty());
}

TEST(Snapshot, FileIsOneZstdFrameWithAChecksum) {
  const TestSnapshot snapshot =
      Snapshot(MakeWindow(1000, 2000, {MakeThread(11, {MakeChunk({Begin(1, 1100)})})}));
  EXPECT_EQ(ZSTD_findFrameCompressedSize(snapshot.file.data(), snapshot.file.size()),
            snapshot.file.size());
  std::string error;
  EXPECT_EQ(DecompressTrace(snapshot.file, &error).size(), snapshot.stats.trace_bytes);
  std::string damaged = snapshot.file;
  damaged.back() ^= 1;  // of the checksum
  DecompressTrace(damaged, &error);
  EXPECT_NE(error, "");
}

TEST(Snapshot, SameInputGivesTheSameBytes) {
  const RingWindow window =
      MakeWindow(1000, 2000,
                 {MakeThread(11, {MakeChunk({Begin(1, 1100), DispatchBegin("x", 1200),
                                             Value(EventKind::kCounter, 2, 3, 1300)})})});
  EXPECT_EQ(Snapshot(window).file, Snapshot(window).file);
}

TEST(Snapshot, FirstErrorOfTheSinkIsReturnedAndEndsTheWork) {
  std::vector<WindowChunk> chunks;
  for (uint64_t i = 0; i < 200; ++i) {
    std::vector<TestEvent> events;
    for (uint64_t j = 0; j < 1000; ++j) {
      // Durations without a pattern, so that the file takes several pieces.
      const uint64_t at = 10'000'000 * (i + 1) + 8000 * j;
      events.push_back(Begin(1 + (j * 7919 + i) % 9, at));
      events.push_back(End(events.back().id, at + (j * j * 31 + i * i * 17) % 7919));
    }
    chunks.push_back(MakeChunk(events));
  }
  const RingWindow window = MakeWindow(0, 3'000'000'000, {MakeThread(11, std::move(chunks))});
  const MethodNames names = TestNames();
  const SnapshotInput input = MakeInput(window, names);
  ASSERT_GT(Snapshot(input).file.size(), 256u << 10);
  int calls = 0;
  const Result<SnapshotStats> result = WriteSnapshot(input, [&](std::string_view) {
    return ++calls == 2 ? Status(StatusCode::kNoSpace, "full") : Status::Ok();
  });
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kNoSpace);
  EXPECT_EQ(calls, 2);
}

TEST(Snapshot, InvalidInputIsRefused) {
  const RingWindow window = MakeWindow(1000, 2000, {});
  const MethodNames names;
  const SnapshotSink sink = [](std::string_view) { return Status::Ok(); };
  SnapshotInput input = MakeInput(window, names);
  input.time_unit_ns = 100;
  EXPECT_EQ(WriteSnapshot(input, sink).status().code(), StatusCode::kInvalidArgument);
  input.time_unit_ns = 1;
  input.window = nullptr;
  EXPECT_EQ(WriteSnapshot(input, sink).status().code(), StatusCode::kInvalidArgument);
}

TEST(Snapshot, TracksOfDifferentKindsNeverShareAUuid) {
  // Ids chosen alike: tid, method, cookie and sampled tid are all 5. The reader refuses a uuid that
  // is described twice.
  StackSample sample;
  sample.tid = 5;
  sample.depth = 1;
  sample.pcs[0] = 5;
  const RingWindow window = MakeWindow(
      1000, 2000,
      {MakeThread(5,
                  {MakeChunk({Begin(5, 1100), Value(EventKind::kCounter, 5, 5, 1110),
                              Value(EventKind::kAsyncBegin, 5, 5, 1120), Sample(sample, 1130)})}),
       MakeThread(5, {MakeChunk({Begin(5, 1500)})}), MakeThread(1, {}), MakeThread(2, {})});
  const MethodNames names = TestNames();
  SnapshotInput input = MakeInput(window, names);
  input.incident.kind = "anr";
  input.incident.gaps = {{kBoottimeOffsetNs, kBoottimeOffsetNs + 1, "overwritten"}};
  const TestSnapshot snapshot = Snapshot(input);
  EXPECT_EQ(snapshot.trace.tracks.size(), 11u);
}

}  // namespace
}  // namespace jankbox::testing
