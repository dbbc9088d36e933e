#include "monitors/frame/presentation_clock.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kRefresh = 10 * kMs;  // 100 Hz, for plain numbers

FrameEvent Work(uint64_t begin_ms, uint64_t end_ms) {
  return {.start_ns = begin_ms * kMs, .end_ns = end_ms * kMs};
}

Presentation Shown(uint64_t at_ms, uint64_t sequence = 0) {
  return {.presented_ns = at_ms * kMs, .refresh_ns = kRefresh, .sequence = sequence};
}

TEST(PresentationClock, FrameAtTheNextRetraceIsOnTime) {
  PresentationClock clock;
  clock.FrameOf(Work(1001, 1005), Shown(1020, 7));
  const FrameEvent frame = clock.FrameOf(Work(1021, 1024), Shown(1030, 8));
  EXPECT_EQ(frame.expected_present_ns, 1030 * kMs);
  EXPECT_EQ(frame.presented_ns, 1030 * kMs);
  EXPECT_EQ(frame.vsync_ns, 1020 * kMs);
  EXPECT_EQ(frame.interval_ns, kRefresh);
  EXPECT_EQ(frame.vsync_id, 8u);
  EXPECT_EQ(frame.fate, FrameFate::kPresented);
  EXPECT_EQ(frame.source, FrameSource::kPresentation);
  EXPECT_FALSE(IsPresentedLate(frame));
  EXPECT_FALSE(IsJanky(frame, FramePolicy::kDeadline, 9));
}

TEST(PresentationClock, RetracesBetweenTwoFramesAreWhatTheSecondIsLate) {
  PresentationClock clock;
  clock.FrameOf(Work(1001, 1005), Shown(1020, 7));
  const FrameEvent frame = clock.FrameOf(Work(1021, 1065), Shown(1070, 12));
  EXPECT_EQ(frame.expected_present_ns, 1030 * kMs);
  EXPECT_TRUE(IsPresentedLate(frame));
  EXPECT_TRUE(IsJanky(frame, FramePolicy::kDeadline, 9));
  EXPECT_EQ(DroppedIntervals(frame), 3u);  // (45 - 10) / 10: of the work alone
}

TEST(PresentationClock, WithoutSequenceTheTimesCount) {
  PresentationClock clock;
  clock.FrameOf(Work(1001, 1005), Shown(1020));
  EXPECT_EQ(clock.FrameOf(Work(1021, 1024), Shown(1031)).expected_present_ns, 1031 * kMs);
  EXPECT_EQ(clock.FrameOf(Work(1032, 1050), Shown(1061)).expected_present_ns, 1041 * kMs);
}

TEST(PresentationClock, AnIdleGapIsNotLate) {
  PresentationClock clock;
  clock.FrameOf(Work(1001, 1005), Shown(1020, 7));
  const FrameEvent frame = clock.FrameOf(Work(3003, 3008), Shown(3020, 207));
  EXPECT_FALSE(IsPresentedLate(frame));
  EXPECT_EQ(frame.vsync_ns, 3000 * kMs);  // of the grid of retraces
  EXPECT_EQ(DroppedIntervals(frame), 0u);
  const FrameEvent late = clock.FrameOf(Work(5003, 5048), Shown(5060, 411));
  EXPECT_TRUE(IsPresentedLate(late));
  EXPECT_EQ(late.expected_present_ns, 5030 * kMs);
}

TEST(PresentationClock, FirstFrameHasNoGrid) {
  PresentationClock clock;
  const FrameEvent frame = clock.FrameOf(Work(1001, 1005), Shown(1020, 7));
  EXPECT_EQ(frame.vsync_ns, 0u);
  EXPECT_FALSE(IsPresentedLate(frame));
}

TEST(PresentationClock, FrameBegunBeforeTheLastPresentationBelongsToAnEarlierRetrace) {
  PresentationClock clock;
  clock.FrameOf(Work(1001, 1005), Shown(1020, 7));
  const FrameEvent frame = clock.FrameOf(Work(1013, 1016), Shown(1030, 8));
  EXPECT_EQ(frame.vsync_ns, 1010 * kMs);
  EXPECT_FALSE(IsPresentedLate(frame));
}

TEST(PresentationClock, DiscardedFrameWasNeverShownAndMovesNoGrid) {
  PresentationClock clock;
  clock.FrameOf(Work(1001, 1005), Shown(1020, 7));
  const FrameEvent lost = clock.FrameOf(Work(1021, 1024), {.discarded = true});
  EXPECT_EQ(lost.fate, FrameFate::kDiscarded);
  EXPECT_EQ(lost.presented_ns, 0u);
  EXPECT_EQ(lost.interval_ns, kRefresh);
  EXPECT_EQ(clock.FrameOf(Work(1025, 1028), Shown(1030, 8)).expected_present_ns, 1030 * kMs);
}

TEST(PresentationClock, RefreshOfAVariableRateIsTheLastKnown) {
  PresentationClock clock;
  clock.FrameOf(Work(1001, 1005), Shown(1020, 7));
  Presentation variable = Shown(1027, 8);
  variable.refresh_ns = 0;
  EXPECT_EQ(clock.FrameOf(Work(1021, 1024), variable).interval_ns, kRefresh);
}

}  // namespace
}  // namespace jankbox
