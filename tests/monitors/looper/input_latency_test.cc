#include "monitors/looper/input_latency.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/clock.h"
#include "monitors/looper/dispatch_monitor.h"
#include "tracer/ring/recorder.h"

namespace jankbox {
namespace {

class InputLatencyTest : public testing::Test {
 protected:
  void SetUp() override {
    RingOptions options;  // in memory
    options.bytes = 1 << 20;
    Result<std::unique_ptr<RingFile>> ring = RingFile::Create(options);
    ASSERT_TRUE(ring.ok());
    static auto* rings = new std::vector<std::unique_ptr<RingFile>>();
    rings->push_back(std::move(ring.value()));
    const RingHeader* header = rings->back()->header();
    ASSERT_TRUE(Recorder::Open(rings->back().get()).ok());
    InputLatency::SetThreshold(100 * kNsPerMs);
    index_ = WatchedSlot::OfThisThread(header).index();
    while (Take()) {  // of the test before
    }
  }
  void TearDown() override { Recorder::Close(); }
  std::optional<Signal> Take() { return InputLatency::Take(index_, &seen_); }

  size_t index_ = 0;
  uint32_t seen_ = 0;
};

TEST_F(InputLatencyTest, EventThatWaitedTooLongIsReportedOnce) {
  const uint64_t now = MonotonicNs();
  InputLatency::On(now - 50 * kNsPerMs);
  EXPECT_FALSE(Take());
  InputLatency::On(now - 250 * kNsPerMs);
  const std::optional<Signal> late = Take();
  ASSERT_TRUE(late);
  EXPECT_EQ(late->kind, SignalKind::kInputLatency);
  EXPECT_EQ(late->begin_ns, now - 250 * kNsPerMs);
  EXPECT_GE(late->end_ns, now);
  EXPECT_FALSE(Take());
}

TEST_F(InputLatencyTest, OfAQueueTheLongestWaitIsReported) {
  for (const uint64_t ms : {5000, 9000, 4000}) InputLatency::On(MonotonicNs() - ms * kNsPerMs);
  const std::optional<Signal> late = Take();
  ASSERT_TRUE(late);
  EXPECT_NEAR(static_cast<double>(late->end_ns - late->begin_ns), 9e9, 5e8);
}

TEST_F(InputLatencyTest, TimesOfAnotherClockArePassedOver) {
  InputLatency::On(MonotonicNs() + 1000 * kNsPerMs);
  InputLatency::On(0);
  InputLatency::On(MonotonicNs() - (InputLatency::kMaxAgeMs + 5000) * kNsPerMs);
  const bool up_for_long = MonotonicNs() > 2 * InputLatency::kMaxAgeMs * kNsPerMs;
  if (up_for_long) {
    EXPECT_FALSE(Take());
  }
}

TEST_F(InputLatencyTest, ThreadThatIsGoneLeavesNothingToTheNext) {
  InputLatency::On(MonotonicNs() - 250 * kNsPerMs);
  ASSERT_TRUE(Take());
  InputLatency::Forget(index_);
  seen_ = 0;  // the next thread's
  EXPECT_FALSE(Take());
  InputLatency::On(MonotonicNs() - 150 * kNsPerMs);
  EXPECT_TRUE(Take());
}

}  // namespace
}  // namespace jankbox
