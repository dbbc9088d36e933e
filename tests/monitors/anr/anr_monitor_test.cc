#include "monitors/anr/anr_monitor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace jankbox {
namespace {

constexpr uint64_t kMs = kNsPerMs;
constexpr uint64_t kBegin = 100'000 * kMs;
constexpr uint64_t kAlways = UINT64_MAX;

class AnrMonitorTest : public ::testing::Test, public SignalSink {
 protected:
  void OnSignal(const Signal& signal) override { told_.push_back(signal.kind); }

  // Adds a hold at `at_ms` of the dispatch.
  void Hold(RefusalReason reason, uint64_t at_ms, uint64_t ms, uint64_t beyond_ms = 0) {
    holds_.Add({reason, kBegin + at_ms * kMs, kBegin + (at_ms + ms) * kMs, beyond_ms * kMs});
  }
  AnrFacts FactsAt(uint64_t ms) {
    facts_.held = holds_.Within(kBegin, kBegin + ms * kMs);
    return facts_;
  }
  // Looks every 50 ms, from `from_ms` on.
  void Run(uint64_t from_ms, uint64_t to_ms) {
    for (uint64_t ms = from_ms; ms <= to_ms; ms += 50) {
      monitor_.OnRunning({kBegin, kBegin, "msg"}, FactsAt(ms), kBegin + ms * kMs, this);
      monitor_.Settle(kBegin, kBegin + ms * kMs);
    }
  }
  void End(uint64_t ms) {
    monitor_.OnEnded({kBegin, kBegin + ms * kMs, "msg"}, FactsAt(ms), this);
    monitor_.Settle(0, kBegin + ms * kMs);
  }
  int Told(SignalKind kind) const {
    return static_cast<int>(std::count(told_.begin(), told_.end(), kind));
  }
  void ExpectRefused(RefusalReason reason) {
    const std::vector<RefusalCount> counts = refusals_.Counts();
    ASSERT_EQ(counts.size(), 1u);
    EXPECT_EQ(counts[0].reason, reason) << RefusalReasonName(counts[0].reason);
    EXPECT_EQ(counts[0].count, 1u);
  }

  Refusals refusals_;
  bool traced_ = false;
  AnrMonitor monitor_{
      {700 * kMs, 2000 * kMs, 5000 * kMs, 10'000 * kMs}, &refusals_, [this] { return traced_; }};
  HoldHistory holds_;
  AnrFacts facts_{{}, kAlways, false};
  std::vector<SignalKind> told_;
};

TEST_F(AnrMonitorTest, TrueBlockIsRaisedOnceWhileItLasts) {
  Run(0, 4950);
  EXPECT_EQ(Told(SignalKind::kAnr), 0);
  EXPECT_GT(Told(SignalKind::kLag), 0);
  Run(5000, 6000);
  EXPECT_EQ(Told(SignalKind::kAnr), 1);
  EXPECT_EQ(monitor_.limit_ns(), 5000 * kMs);
  End(6000);
  EXPECT_EQ(told_.back(), SignalKind::kAnr);
  EXPECT_TRUE(refusals_.Counts().empty());
}

TEST_F(AnrMonitorTest, UnseenEndIsReportedByItsLength) {
  End(800);
  EXPECT_EQ(told_.back(), SignalKind::kSlowMessage);
  End(2000);
  EXPECT_EQ(told_.back(), SignalKind::kLag);
  End(5000);
  EXPECT_EQ(told_.back(), SignalKind::kAnr);
  EXPECT_TRUE(refusals_.Counts().empty());
}

TEST_F(AnrMonitorTest, StopAndAHundredMillisecondsAreNothing) {
  Run(0, 50);
  Hold(RefusalReason::kStopped, 60, 8000);
  Run(8060, 8100);
  End(8100);
  EXPECT_TRUE(told_.empty());
  ExpectRefused(RefusalReason::kStopped);
}

TEST_F(AnrMonitorTest, StopAndATrueBlockAreOneAnr) {
  Run(0, 3000);
  Hold(RefusalReason::kStopped, 3000, 8000);
  Run(11'000, 12'950);
  EXPECT_EQ(Told(SignalKind::kAnr), 0);
  Run(13'000, 14'000);
  EXPECT_EQ(Told(SignalKind::kAnr), 1);
  End(14'000);
  EXPECT_TRUE(refusals_.Counts().empty());
}

TEST_F(AnrMonitorTest, SlowMessageThatWasMostlyAStopIsRefusedToo) {
  Hold(RefusalReason::kStopped, 100, 900);
  End(1100);
  EXPECT_TRUE(told_.empty());
  ExpectRefused(RefusalReason::kStopped);
}

TEST_F(AnrMonitorTest, SleepOfTheMachineIsRefused) {
  Hold(RefusalReason::kSuspended, 50, 0, 3'600'000);
  Run(100, 200);
  monitor_.Settle(0, kBegin + 250 * kMs);  // too short for a note of its end
  EXPECT_TRUE(told_.empty());
  ExpectRefused(RefusalReason::kSuspended);
}

TEST_F(AnrMonitorTest, TracingStopIsRefused) {
  Hold(RefusalReason::kTraced, 50, 8000);
  Run(8050, 8100);
  End(8100);
  EXPECT_TRUE(told_.empty());
  ExpectRefused(RefusalReason::kTraced);
}

TEST_F(AnrMonitorTest, BlockUnderADebuggerIsALagEvenOnceItHasLeft) {
  traced_ = true;
  Run(0, 6000);
  traced_ = false;
  Run(6050, 7000);
  End(7000);
  EXPECT_EQ(Told(SignalKind::kAnr), 0);
  EXPECT_EQ(told_.back(), SignalKind::kLag);
  ExpectRefused(RefusalReason::kTraced);
}

TEST_F(AnrMonitorTest, StarvedWatcherRaisesNothingButTheDurationIsKept) {
  Hold(RefusalReason::kWatcherLate, 0, 5500);
  Run(5500, 6000);
  End(6000);
  EXPECT_EQ(Told(SignalKind::kAnr), 0);
  EXPECT_EQ(told_.back(), SignalKind::kLag);
  ExpectRefused(RefusalReason::kWatcherLate);
}

TEST_F(AnrMonitorTest, BackgroundHasItsOwnLimit) {
  facts_.in_front_ns = 0;
  Run(0, 6000);
  End(6000);
  EXPECT_EQ(Told(SignalKind::kAnr), 0);
  ExpectRefused(RefusalReason::kBackground);
  Run(0, 10'000);
  EXPECT_EQ(Told(SignalKind::kAnr), 1);
  EXPECT_EQ(monitor_.limit_ns(), 10'000 * kMs);
}

TEST_F(AnrMonitorTest, TimeInFrontCountsForTheLimitInFront) {
  facts_.in_front_ns = 1000 * kMs;  // came to front in the middle of the block
  Run(6000, 6000);
  EXPECT_EQ(Told(SignalKind::kAnr), 0);
  facts_.in_front_ns = 5000 * kMs;
  Run(9950, 9950);
  EXPECT_EQ(Told(SignalKind::kAnr), 1);
}

TEST_F(AnrMonitorTest, TheSystemsWordIsWorthALag) {
  facts_.asked_by_signal = true;
  Run(1950, 1950);
  EXPECT_EQ(Told(SignalKind::kAnr), 0);
  Run(2000, 2000);
  EXPECT_EQ(Told(SignalKind::kAnr), 1);
  facts_.asked_by_signal = false;
  Run(2050, 6000);
  EXPECT_EQ(Told(SignalKind::kAnr), 1);
  End(6000);
  EXPECT_TRUE(refusals_.Counts().empty());
}

TEST_F(AnrMonitorTest, TheSystemsWordIsNotEnoughWhereAStopIsTheCause) {
  Hold(RefusalReason::kStopped, 100, 8000);
  facts_.asked_by_signal = true;
  Run(8200, 8200);
  EXPECT_EQ(Told(SignalKind::kAnr), 0);
}

TEST(HoldHistory, FreePartsAndStoppedPartsAddUp) {
  HoldHistory holds;
  for (uint64_t i = 0; i < 40; ++i) {
    holds.Add({RefusalReason::kStopped, i * 1000, i * 1000 + 300, 0});
    holds.Add({RefusalReason::kTraced, i * 1000 + 200, i * 1000 + 400, 0});  // 100 of it are new
    holds.Add({RefusalReason::kWatcherLate, i * 1000 + 500, i * 1000 + 900, 0});
  }
  for (const auto& [from, to] : {std::pair<uint64_t, uint64_t>{25'000, 40'000},
                                 {25'100, 38'250},
                                 {30'350, 30'700},
                                 {39'900, 50'000}}) {
    const HeldTime held = holds.Within(from, to);
    uint64_t free_ns = 0;
    uint64_t last = from;
    holds.EachFree(from, to, [&](uint64_t begin, uint64_t end) {
      EXPECT_GE(begin, last);
      EXPECT_GT(end, begin);
      free_ns += end - begin;
      last = end;
    });
    EXPECT_EQ(free_ns + held.held_ns(), to - from) << from;
  }
  const HeldTime one = holds.Within(30'000, 31'000);
  EXPECT_EQ(one.stopped_ns, 300u);
  EXPECT_EQ(one.traced_ns, 100u);
  EXPECT_EQ(one.late_ns, 400u);
}

TEST(HoldHistory, PiecesOfOneStopAreOne) {
  HoldHistory holds;
  for (uint64_t i = 0; i < 10'000; ++i) holds.Add({RefusalReason::kTraced, i, i + 1, 0});
  EXPECT_EQ(holds.Within(0, 10'000).traced_ns, 10'000u);
}

}  // namespace
}  // namespace jankbox
