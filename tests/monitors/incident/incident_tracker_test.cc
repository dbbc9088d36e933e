#include "monitors/incident/incident_tracker.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/clock.h"

namespace jankbox {
namespace {

constexpr uint64_t kMs = kNsPerMs;

class IncidentTrackerTest : public testing::Test {
 protected:
  IncidentTracker tracker_{[this] { return "id-" + std::to_string(++ids_); },
                           [this](const IncidentRevision& r) { sealed_.push_back(r); }};
  int ids_ = 0;
  std::vector<IncidentRevision> sealed_;

  static Signal Slow(uint64_t begin_ms, uint64_t end_ms) {
    return {SignalKind::kSlowMessage, begin_ms * kMs, end_ms * kMs, "msg", 0, 0};
  }
  static Signal Anr(uint64_t begin_ms) {
    return {SignalKind::kAnr, begin_ms * kMs, 0, "msg", 0, 0};
  }
  static Signal Jank(uint64_t begin_ms, uint64_t end_ms, uint64_t dropped) {
    return {SignalKind::kJank, begin_ms * kMs, end_ms * kMs, "doFrame", dropped, 16'666'667};
  }
};

TEST_F(IncidentTrackerTest, SlowMessageIsSealedOnceAtItsEnd) {
  tracker_.OnSignal(Slow(1000, 0));  // seen overdue
  tracker_.Settle(1700 * kMs, 1000 * kMs);
  tracker_.OnSignal(Slow(1000, 0));
  tracker_.Settle(1705 * kMs, 1000 * kMs);
  EXPECT_TRUE(sealed_.empty());
  tracker_.OnSignal(Slow(1000, 1912));
  tracker_.Settle(1913 * kMs, 0);
  ASSERT_EQ(sealed_.size(), 1u);
  EXPECT_EQ(sealed_[0].revision, 1u);
  EXPECT_EQ(sealed_[0].end_ns - sealed_[0].begin_ns, 912 * kMs);
  EXPECT_FALSE(sealed_[0].ongoing);
}

TEST_F(IncidentTrackerTest, ReadingThatIsOlderThanTheEndBeginsNothingNew) {
  tracker_.OnSignal(Slow(1000, 0));
  tracker_.Settle(1700 * kMs, 1000 * kMs);
  tracker_.OnSignal(Slow(1000, 1900));
  tracker_.OnSignal(Slow(1000, 0));  // "running", read before the end was
  tracker_.Settle(1900 * kMs, 1000 * kMs);
  tracker_.Settle(1950 * kMs, 0);
  EXPECT_EQ(sealed_.size(), 1u);
  tracker_.OnSignal(Slow(2000, 2800));
  EXPECT_EQ(sealed_.size(), 2u);
}

TEST_F(IncidentTrackerTest, LateFrameInASlowMethodIsNoIncidentOfItsOwn) {
  tracker_.OnSignal(Jank(1000, 1500, 29));
  const std::optional<Signal> frame = tracker_.TakeLateFrame(900 * kMs, 1700 * kMs);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->dropped_frames, 29u);
  tracker_.OnSignal(Jank(1600, 1710, 5));  // it ended after the method
  tracker_.Settle(1750 * kMs, 0);
  EXPECT_TRUE(sealed_.empty());
  tracker_.OnSignal(Jank(1800, 2300, 29));
  EXPECT_FALSE(tracker_.TakeLateFrame(900 * kMs, 1700 * kMs)) << "another block";
  tracker_.Settle(2350 * kMs, 0);
  ASSERT_EQ(sealed_.size(), 1u);
  EXPECT_EQ(sealed_[0].kind, SignalKind::kJank);
}

Signal Input(uint64_t event_ms, uint64_t handled_ms) {
  return {SignalKind::kInputLatency, event_ms * kMs, handled_ms * kMs, "input", 0, 0};
}

TEST_F(IncidentTrackerTest, LateInputInASlowMessageIsPartOfIt) {
  tracker_.OnSignal(Slow(1000, 0));
  tracker_.Settle(1700 * kMs, 1000 * kMs);
  tracker_.OnSignal(Input(900, 3200));
  tracker_.Settle(3201 * kMs, 1000 * kMs);
  EXPECT_TRUE(sealed_.empty());
  tracker_.OnSignal(Slow(1000, 3300));
  tracker_.OnSignal(Input(1200, 3310));  // waited for the same
  tracker_.Settle(3311 * kMs, 0);
  ASSERT_EQ(sealed_.size(), 1u);
  EXPECT_EQ(sealed_[0].kind, SignalKind::kSlowMessage);
  EXPECT_EQ(sealed_[0].input_wait_ns, 2300 * kMs);
}

TEST_F(IncidentTrackerTest, LateInputAfterShortMessagesIsOneIncidentOfItsOwn) {
  tracker_.OnSignal(Input(1000, 3100));
  tracker_.Settle(3110 * kMs, 3090 * kMs);  // the dispatch that handles it may still become slow
  EXPECT_TRUE(sealed_.empty());
  tracker_.Settle(3160 * kMs, 0);
  tracker_.OnSignal(Input(1050, 3170));  // the same queue
  tracker_.Settle(3180 * kMs, 0);
  ASSERT_EQ(sealed_.size(), 1u);
  EXPECT_EQ(sealed_[0].kind, SignalKind::kInputLatency);
  EXPECT_EQ(sealed_[0].input_wait_ns, 2100 * kMs);
  EXPECT_EQ(sealed_[0].end_ns - sealed_[0].begin_ns, 2100 * kMs);
}

TEST_F(IncidentTrackerTest, SlowGrowsToAnrUnderOneId) {
  tracker_.OnSignal(Slow(1000, 0));
  tracker_.Settle(1700 * kMs, 1000 * kMs);
  tracker_.OnSignal(Anr(1000));
  tracker_.Settle(6000 * kMs, 1000 * kMs);
  ASSERT_EQ(sealed_.size(), 1u);
  EXPECT_EQ(sealed_[0].kind, SignalKind::kAnr);
  EXPECT_TRUE(sealed_[0].ongoing);
  // The end comes through a clock that was calibrated again meanwhile.
  Signal end = Slow(1000, 7000);
  end.begin_ns += 300'000;
  tracker_.OnSignal(end);
  ASSERT_EQ(sealed_.size(), 2u);
  EXPECT_EQ(sealed_[1].id, sealed_[0].id);
  EXPECT_EQ(sealed_[1].revision, 2u);
  EXPECT_EQ(sealed_[1].kind, SignalKind::kAnr);
  EXPECT_FALSE(sealed_[1].ongoing);
  EXPECT_EQ(sealed_[1].end_ns, 7000 * kMs);
}

TEST_F(IncidentTrackerTest, LateFrameInASlowMessageIsTheSameIncident) {
  tracker_.OnSignal(Jank(1100, 1600, 29));
  tracker_.Settle(1610 * kMs, 1000 * kMs);  // its dispatch still runs
  EXPECT_TRUE(sealed_.empty());
  tracker_.OnSignal(Slow(1000, 1800));
  tracker_.Settle(1810 * kMs, 0);
  ASSERT_EQ(sealed_.size(), 1u);
  EXPECT_EQ(sealed_[0].kind, SignalKind::kSlowMessage);
  EXPECT_EQ(sealed_[0].dropped_frames, 29u);
}

TEST_F(IncidentTrackerTest, OnlyALateFrameIsJankAndTheWorstOfADispatchIsReported) {
  tracker_.OnSignal(Jank(1000, 1200, 11));
  tracker_.OnSignal(Jank(1200, 1600, 23));
  tracker_.OnSignal(Jank(1600, 1800, 11));
  tracker_.Settle(1801 * kMs, 0);
  ASSERT_EQ(sealed_.size(), 1u);
  EXPECT_EQ(sealed_[0].kind, SignalKind::kJank);
  EXPECT_EQ(sealed_[0].dropped_frames, 23u);
  EXPECT_EQ(sealed_[0].end_ns - sealed_[0].begin_ns, 400 * kMs);
}

TEST_F(IncidentTrackerTest, LateFrameReportedAfterItsSlowMessageIsNotASecondIncident) {
  tracker_.OnSignal(Slow(1000, 1800));
  tracker_.OnSignal(Jank(1100, 1790, 40));
  tracker_.Settle(1810 * kMs, 0);
  EXPECT_EQ(sealed_.size(), 1u);
}

TEST_F(IncidentTrackerTest, UnreportedEndIsTheNextDispatch) {
  tracker_.OnSignal(Slow(1000, 0));
  tracker_.Settle(1750 * kMs, 1000 * kMs);
  tracker_.Settle(1900 * kMs, 1850 * kMs);  // another dispatch runs by now
  ASSERT_EQ(sealed_.size(), 1u);
  EXPECT_EQ(sealed_[0].end_ns, 1850 * kMs);
}

TEST_F(IncidentTrackerTest, TwoBlocksAreTwoIncidents) {
  tracker_.OnSignal(Slow(1000, 1800));
  tracker_.OnSignal(Slow(2000, 2900));
  ASSERT_EQ(sealed_.size(), 2u);
  EXPECT_NE(sealed_[0].id, sealed_[1].id);
}

}  // namespace
}  // namespace jankbox
