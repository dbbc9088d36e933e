// Stack samples: PerfSamples, and the flame chart over time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tracer/snapshot/test_window.h"

namespace jankbox::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int32_t kUi = 11;
constexpr int32_t kWatcher = 99;
constexpr uint64_t kMs = 1'000'000;

// Functions by address; 0x8xxx is in Jankbox, 0x9xxx in a module without symbols, 0xaxxx in none.
FrameTable TestFrames() {
  FrameTable frames;
  auto add = [&](uint64_t address, const char* function) {
    frames[address] = {.function = function,
                       .module = "libapp.so",
                       .path = "/secret/libapp.so",
                       .build_id = "0a1bff",
                       .rel_pc = address & 0xfff};
  };
  add(0x1000, "_start");
  add(0x1010, "__libc_start_main@@GLIBC_2.34");
  add(0x1100, "main");
  add(0x1200, "run");
  add(0x1208, "run");  // another call in it
  add(0x1300, "load");
  add(0x1400, "parse");
  frames[0x9123] = {.module = "libbare.so", .rel_pc = 0x123};
  frames[0x8000] = {.function = "jankbox::PollProxy", .module = "libjankbox.so.0.2"};
  return frames;
}

// Outermost first, for reading.
StackSample Stack(std::vector<uint64_t> pcs, bool truncated = false) {
  StackSample sample;
  sample.tid = kUi;
  sample.source = SampleSource::kPerf;
  sample.truncated = truncated;
  sample.depth = static_cast<uint32_t>(pcs.size());
  std::copy(pcs.rbegin(), pcs.rend(), sample.pcs);
  return sample;
}

struct TimedSample {
  uint64_t ms;
  StackSample sample;
};

// A window of 1 s with events of the UI thread and samples that the watcher took.
TestSnapshot SnapshotOf(std::vector<TestEvent> ui, const std::vector<TimedSample>& samples,
                        uint32_t unit_ns = 1) {
  std::vector<TestEvent> taken;
  for (const TimedSample& timed : samples) taken.push_back(Sample(timed.sample, timed.ms * kMs));
  const RingWindow window = MakeWindow(
      0, 1000 * kMs, {MakeThread(kUi, {MakeChunk(ui)}), MakeThread(kWatcher, {MakeChunk(taken)})});
  const MethodNames names = TestNames();
  const FrameTable frames = TestFrames();
  SnapshotInput input = MakeInput(window, names);
  input.frames = &frames;
  input.time_unit_ns = unit_ns;
  return Snapshot(input);
}

// "ms+ms depth name", of sampled slices on the thread's track (t) or their own (s).
std::vector<std::string> Lines(const TestSnapshot& snapshot) {
  std::vector<std::string> lines;
  for (const ReadSlice& slice : snapshot.trace.slices) {
    if (slice.category != "sampled") continue;
    std::string line = slice.tid == kUi ? "t " : "s ";
    line += std::to_string((slice.ts - kBoottimeOffsetNs) / kMs) + "+" +
            std::to_string(slice.dur / kMs) + " " + std::to_string(slice.depth) + " " + slice.name;
    for (const std::string& flag : slice.flags) line += " " + flag;
    lines.push_back(line);
  }
  return lines;
}

const std::vector<TimedSample> kThreeSamples = {
    {100, Stack({0x1000, 0x1010, 0x1100, 0x1200, 0x1300})},
    {105, Stack({0x1000, 0x1010, 0x1100, 0x1200, 0x1300, 0x1400})},
    {110, Stack({0x1000, 0x1010, 0x1100, 0x1208, 0x1400})}};

TEST(PerfSamples, KeepStackModuleAndMoment) {
  const TestSnapshot snapshot = SnapshotOf({}, {{100, Stack({0x1100, 0x9123, 0xa000})},
                                                {105, Stack({0x1100, 0x1200}, true)},
                                                {110, Stack({}, true)}});
  ASSERT_EQ(snapshot.trace.samples.size(), 3u);
  EXPECT_EQ(snapshot.stats.samples, 3u);
  const ReadSample& sample = snapshot.trace.samples[0];
  EXPECT_EQ(sample.ts, 100 * kMs + kBoottimeOffsetNs);
  EXPECT_EQ(sample.pid, kTestPid);
  EXPECT_EQ(sample.tid, kUi);
  EXPECT_EQ(sample.unwind_error, 0u);
  ASSERT_EQ(sample.frames.size(), 3u);
  EXPECT_EQ(sample.frames[0].function, "main");
  EXPECT_EQ(sample.frames[0].module, "libapp.so");
  EXPECT_EQ(sample.frames[0].build_id, "\x0a\x1b\xff");
  EXPECT_EQ(sample.frames[0].rel_pc, 0x100u);
  EXPECT_EQ(sample.frames[1].function, "");
  EXPECT_EQ(sample.frames[1].module, "libbare.so");
  EXPECT_EQ(sample.frames[1].rel_pc, 0x123u);
  EXPECT_EQ(sample.frames[2].module, "[unknown]");
  EXPECT_EQ(sample.frames[2].rel_pc, 0xa000u);
  EXPECT_EQ(snapshot.trace.samples[1].unwind_error, 3u);
  // A thread that waits for a CPU has no stack, and no unwinding of it failed.
  EXPECT_THAT(snapshot.trace.samples[2].frames, IsEmpty());
  EXPECT_EQ(snapshot.trace.samples[2].unwind_error, 0u);
}

TEST(PerfSamples, ProcessEntryAndProxiesAreNotInStacks) {
  const TestSnapshot snapshot =
      SnapshotOf({}, {{100, Stack({0x1000, 0x1010, 0x1100, 0x8000, 0x1200})}});
  ASSERT_EQ(snapshot.trace.samples.size(), 1u);
  const std::vector<ReadFrameOfStack>& frames = snapshot.trace.samples[0].frames;
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].function, "main");
  EXPECT_EQ(frames[1].function, "run");
  EXPECT_THAT(Lines(snapshot), ElementsAre("s 100+5 0 main", "s 100+5 1 run"));
}

TEST(PerfSamples, PathsStayOutOfTheTrace) {
  std::string error;
  const std::string trace = DecompressTrace(SnapshotOf({}, kThreeSamples).file, &error);
  EXPECT_EQ(trace.find("secret"), std::string::npos);
  EXPECT_NE(trace.find("libapp.so"), std::string::npos);
}

TEST(PerfSamples, MalformedOnesAreCounted) {
  StackSample sample = Stack({0x1100});
  TestEvent event = Sample(sample, 100 * kMs);
  event.payload[2] = 7;  // deeper than it is long
  const TestSnapshot snapshot =
      Snapshot(MakeWindow(0, 1000 * kMs, {MakeThread(kWatcher, {MakeChunk({event})})}));
  EXPECT_EQ(snapshot.stats.samples, 0u);
  EXPECT_EQ(snapshot.stats.torn_events, 1u);
}

TEST(SampleSlices, SharedOuterCallsAreOneSliceInsideAnEmptyDispatch) {
  const TestSnapshot snapshot =
      SnapshotOf({DispatchBegin("d", 90 * kMs), DispatchEnd(200 * kMs)}, kThreeSamples);
  EXPECT_THAT(Lines(snapshot), ElementsAre("t 100+15 1 main", "t 100+15 2 run", "t 100+10 3 load",
                                           "t 105+5 4 parse", "t 110+5 3 parse"));
  EXPECT_EQ(snapshot.stats.slices, 6u);
}

TEST(SampleSlices, DispatchWithMethodsKeepsItsTrackToItself) {
  const TestSnapshot snapshot = SnapshotOf(
      {DispatchBegin("d", 90 * kMs), Begin(1, 95 * kMs), End(1, 96 * kMs), DispatchEnd(200 * kMs)},
      kThreeSamples);
  EXPECT_THAT(Lines(snapshot), ElementsAre("s 100+15 0 main", "s 100+15 1 run", "s 100+10 2 load",
                                           "s 105+5 3 parse", "s 110+5 2 parse"));
  const ReadTrack& track = snapshot.trace.tracks.at(snapshot.trace.slices.back().track_uuid);
  EXPECT_EQ(track.name, "sampled stack");
  EXPECT_EQ(snapshot.trace.tracks.at(track.parent_uuid).tid, kUi);
}

TEST(SampleSlices, MethodsOfANestedDispatchCountForTheOuterOne) {
  EXPECT_THAT(Lines(SnapshotOf(
                  {DispatchBegin("outer", 90 * kMs), DispatchBegin("inner", 120 * kMs),
                   Begin(1, 121 * kMs), DispatchEnd(122 * kMs), DispatchBegin("other", 130 * kMs),
                   DispatchEnd(140 * kMs), DispatchEnd(200 * kMs)},
                  {{100, Stack({0x1100})}, {105, Stack({0x1100})}, {135, Stack({0x1100})}})),
              ElementsAre("s 100+10 0 main", "t 135+4 2 main"));
}

TEST(SampleSlices, OutsideADispatchTheyAreOnTheirOwnTrack) {
  EXPECT_THAT(Lines(SnapshotOf({}, {{100, Stack({0x1100})}})), ElementsAre("s 100+5 0 main"));
}

TEST(SampleSlices, NeverCrossADispatchsEdges) {
  const TestSnapshot snapshot = SnapshotOf(
      {DispatchBegin("d", 100 * kMs), DispatchEnd(107 * kMs), DispatchBegin("e", 108 * kMs),
       DispatchBegin("f", 109 * kMs), DispatchEnd(111 * kMs), DispatchEnd(112 * kMs)},
      kThreeSamples);
  for (const ReadSlice& slice : snapshot.trace.slices) {
    if (slice.category != "sampled" || slice.tid != kUi) continue;
    const auto& slices = snapshot.trace.slices;
    const bool inside = std::any_of(slices.begin(), slices.end(), [&](const ReadSlice& outer) {
      return outer.category == "dispatch" && outer.depth < slice.depth && outer.ts < slice.ts &&
             slice.ts + slice.dur < outer.ts + outer.dur;
    });
    EXPECT_TRUE(inside) << Describe(slice);
  }
  EXPECT_THAT(Lines(snapshot),
              ElementsAre("t 100+6 1 main", "t 100+6 2 run", "t 100+6 3 load", "t 105+1 4 parse",
                          "t 110+0 2 main", "t 110+0 3 run", "t 110+0 4 parse"));
}

TEST(SampleSlices, CoarseUnitStaysStrictlyInside) {
  const TestSnapshot snapshot =
      SnapshotOf({DispatchBegin("d", 100 * kMs), DispatchEnd(110 * kMs)}, kThreeSamples, 128);
  ASSERT_EQ(snapshot.trace.slices[0].name, "d");
  const ReadSlice dispatch = snapshot.trace.slices[0];
  size_t inside = 0;
  for (const ReadSlice& slice : snapshot.trace.slices) {
    if (slice.category != "sampled" || slice.tid != kUi) continue;
    ++inside;
    EXPECT_LT(dispatch.ts, slice.ts);
    EXPECT_LT(slice.ts + slice.dur, dispatch.ts + dispatch.dur);
    EXPECT_GE(slice.depth, 1u);
  }
  EXPECT_EQ(inside, 4u);
}

TEST(SampleSlices, LongPauseEndsAllSlices) {
  const StackSample stack = Stack({0x1100, 0x1200});
  EXPECT_THAT(
      Lines(SnapshotOf(
          {},
          {{100, stack}, {105, stack}, {110, stack}, {131, stack}, {136, stack}, {156, stack}})),
      ElementsAre("s 100+15 0 main", "s 100+15 1 run", "s 131+30 0 main", "s 131+30 1 run"));
}

TEST(SampleSlices, TruncatedStackSaysSo) {
  EXPECT_THAT(Lines(SnapshotOf({}, {{100, Stack({0x1300, 0x1400}, true)}})),
              ElementsAre("s 100+5 0 load stack_truncated", "s 100+5 1 parse"));
}

TEST(SampleSlices, CallsWithoutANameShowTheirModule) {
  EXPECT_THAT(Lines(SnapshotOf({}, {{100, Stack({0x9123, 0xa000})}})),
              ElementsAre("s 100+5 0 libbare.so+0x123", "s 100+5 1 0xa000"));
}

TEST(SampleSlices, OpenDispatchContainsTheLastSampleOfTheWindow) {
  EXPECT_THAT(Lines(SnapshotOf({DispatchBegin("d", 90 * kMs)},
                               {{990, Stack({0x1100})}, {1000, Stack({0x1100})}})),
              ElementsAre("t 990+9 1 main"));
}

TEST(SampleSlices, SampledThreadWithoutEventsIsDescribed) {
  StackSample stack = Stack({0x1100});
  stack.tid = 1234;
  const TestSnapshot snapshot = SnapshotOf({}, {{100, stack}});
  EXPECT_TRUE(snapshot.trace.threads.contains(1234));
  EXPECT_THAT(Lines(snapshot), ElementsAre("s 100+5 0 main"));
}

}  // namespace
}  // namespace jankbox::testing
