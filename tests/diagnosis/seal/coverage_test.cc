#include "diagnosis/seal/coverage.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/tracer/ring/test_ring.h"

namespace jankbox {
namespace {

constexpr int32_t kTid = 42;

WindowChunk Chunk(uint64_t base_ticks, uint64_t close_ticks, bool gap_before) {
  WindowChunk chunk;
  chunk.base_ticks = base_ticks;
  chunk.close_ticks = close_ticks;
  chunk.gap_before = gap_before;
  return chunk;
}

// Ticks 1000 to 2000, with these chunks of thread kTid.
RingWindow Window(std::vector<WindowChunk> chunks, bool watched = true) {
  RingWindow window;
  window.from_ticks = 1000;
  window.to_ticks = 2000;
  WindowThread thread;
  thread.tid = kTid;
  thread.serial = 7;
  thread.ui = watched;
  thread.chunks = std::move(chunks);
  window.threads.push_back(std::move(thread));
  return window;
}

// What the gaps leave.
uint64_t CoveredTicks(const RingWindow& window, int32_t tid, uint64_t from, uint64_t to,
                      const std::vector<RecordedMode>& modes) {
  uint64_t covered = to - from;
  for (const CoverageGap& gap : CoverageGaps(window, tid, from, to, modes)) {
    covered -= gap.to_ticks - gap.from_ticks;
  }
  return covered;
}

TEST(CoverageGaps, ChunksWithoutAGapCoverEverything) {
  const RingWindow window =
      Window({Chunk(900, 1200, false), Chunk(1200, 1700, false), Chunk(1700, 0, false)});
  EXPECT_EQ(CoveredTicks(window, kTid, 1000, 2000, {}), 1000u);
  EXPECT_EQ(CoveredTicks(window, kTid, 1100, 1150, {}), 50u);
}

TEST(CoverageGaps, TimeBeforeTheFirstSurvivingChunkIsNotCovered) {
  const RingWindow window = Window({Chunk(1600, 0, true)});
  EXPECT_EQ(CoveredTicks(window, kTid, 1000, 2000, {}), 400u);
  EXPECT_EQ(CoveredTicks(window, kTid, 1000, 1600, {}), 0u);
}

TEST(CoverageGaps, TimeBeforeTheFirstEventOfAThreadIsCovered) {
  EXPECT_EQ(CoveredTicks(Window({Chunk(1600, 0, false)}), kTid, 1000, 2000, {}), 1000u);
}

TEST(CoverageGaps, GapLastsFromTheCloseOfOneChunkToTheNextOne) {
  const RingWindow window = Window({Chunk(900, 1200, false), Chunk(1500, 0, true)});
  EXPECT_EQ(CoveredTicks(window, kTid, 1000, 2000, {}), 700u);
  EXPECT_EQ(CoveredTicks(window, kTid, 1200, 1500, {}), 0u);
  EXPECT_EQ(CoveredTicks(window, kTid, 1100, 1600, {}), 200u);
}

TEST(CoverageGaps, LastChunkThatIsClosedCoversUpToItsClose) {
  EXPECT_EQ(CoveredTicks(Window({Chunk(900, 1300, false)}), kTid, 1000, 2000, {}), 300u);
}

TEST(CoverageGaps, TimeBeforeTheWindowIsNotCovered) {
  EXPECT_EQ(CoveredTicks(Window({Chunk(900, 0, false)}), kTid, 100, 2000, {}), 1000u);
}

TEST(CoverageGaps, ThreadWithoutEventsIsNotCovered) {
  EXPECT_EQ(CoveredTicks(Window({Chunk(900, 0, false)}), kTid + 1, 1000, 2000, {}), 0u);
  EXPECT_EQ(CoveredTicks(RingWindow(), kTid, 1000, 2000, {}), 0u);
}

TEST(CoverageGaps, TimeWithoutRecordingIsNotCovered) {
  const std::vector<RecordedMode> modes = {
      {RecordMode::kExact, RecordModeReason::kStart, 0},
      {RecordMode::kWatchedOnly, RecordModeReason::kOverBudget, 1300},
      {RecordMode::kOff, RecordModeReason::kOverBudget, 1500},
      {RecordMode::kExact, RecordModeReason::kWithinBudget, 1900}};
  EXPECT_EQ(CoveredTicks(Window({Chunk(900, 0, false)}, true), kTid, 1000, 2000, modes), 600u);
  EXPECT_EQ(CoveredTicks(Window({Chunk(900, 0, false)}, false), kTid, 1000, 2000, modes), 400u);
}

TEST(CoverageGaps, NewestThreadOfATidCounts) {
  RingWindow window = Window({Chunk(1600, 0, true)});
  WindowThread earlier = window.threads[0];
  earlier.serial = 3;
  earlier.chunks = {Chunk(900, 1100, false)};
  window.threads.push_back(earlier);
  EXPECT_EQ(CoveredTicks(window, kTid, 1000, 2000, {}), 400u);
}

// "1000-1300 overwritten"
std::vector<std::string> Gaps(const RingWindow& window, uint64_t from, uint64_t to,
                              const std::vector<RecordedMode>& modes = {}) {
  std::vector<std::string> lines;
  for (const CoverageGap& gap : CoverageGaps(window, kTid, from, to, modes)) {
    lines.push_back(std::to_string(gap.from_ticks) + "-" + std::to_string(gap.to_ticks) + " " +
                    gap.reason);
  }
  return lines;
}

TEST(CoverageGaps, SayWhenEventsAreMissingAndWhy) {
  const std::vector<RecordedMode> modes = {
      {RecordMode::kExact, RecordModeReason::kStart, 0},
      {RecordMode::kOff, RecordModeReason::kOverBudget, 1700},
      {RecordMode::kExact, RecordModeReason::kWithinBudget, 1800}};
  const RingWindow window = Window({Chunk(1100, 1200, true), Chunk(1500, 0, true)});
  EXPECT_THAT(Gaps(window, 900, 2100, modes),
              ::testing::ElementsAre("900-1000 outside of the window", "1000-1100 overwritten",
                                     "1200-1500 overwritten", "1700-1800 recording was off",
                                     "2000-2100 outside of the window"));
}

TEST(CoverageGaps, NoneWithinWhatIsRecorded) {
  EXPECT_THAT(Gaps(Window({Chunk(900, 0, false)}), 1000, 2000), ::testing::IsEmpty());
}

TEST(CoverageGaps, ThreadWithoutEventsIsOneGap) {
  EXPECT_THAT(Gaps(Window({}), 1200, 1900),
              ::testing::ElementsAre("1200-1900 no event of the thread"));
}

using CoverageOfARing = RingTest;

// Every instant that was overwritten lies in the time that is not covered, and nothing else does.
TEST_F(CoverageOfARing, LappedRingIsCoveredFromItsFirstSurvivingChunk) {
  constexpr uint32_t kEvents = 200'000;
  OpenRing(1 << 20);
  std::vector<uint64_t> ticks;
  const TickSource source = ChooseTickSource();
  for (uint32_t i = 0; i < kEvents; ++i) {
    ticks.push_back(ReadTicks(source));
    RecordEvent(EventKind::kInstant, i + 1);
  }
  const uint64_t from = ticks.front();
  const uint64_t to = ReadTicks(source);
  const RingWindow window = RingReader(ring_->base(), ring_->bytes()).CopyWindow(from, to);
  const std::vector<EventRecord> events = Events(window, CurrentTid());
  ASSERT_FALSE(events.empty());
  const uint32_t first = events.front().id - 1;
  ASSERT_GT(first, kEvents / 10) << "the ring was not lapped";
  const uint64_t covered = CoveredTicks(window, CurrentTid(), from, to, {});
  EXPECT_LE(covered, to - ticks[first - 1]);
  EXPECT_GE(covered, to - ticks[first + 1]);
}

TEST_F(CoverageOfARing, RingThatIsNotLappedIsCovered) {
  OpenRing(1 << 20);
  const TickSource source = ChooseTickSource();
  const uint64_t from = ReadTicks(source);
  for (uint32_t i = 1; i <= 5000; ++i) RecordEvent(EventKind::kInstant, i);
  const uint64_t to = ReadTicks(source);
  const RingWindow window = RingReader(ring_->base(), ring_->bytes()).CopyWindow(from, to);
  EXPECT_EQ(CoveredTicks(window, CurrentTid(), from, to, {}), to - from);
}

}  // namespace
}  // namespace jankbox
