// What recording costs, from the chunks that a ring in memory has handed out.
#include "sdk/runtime/overhead.h"

#include <gmock/gmock.h>

#include <vector>

#include "base/clock.h"
#include "tests/fakes/fake_ring.h"
#include "tracer/ring/record_modes.h"
#include "tracer/ring/recorder.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr uint64_t kWordsPerChunk = (kChunkBytes - sizeof(RingChunk)) / sizeof(uint64_t);

class OverheadTest : public testing::Test {
 protected:
  OverheadTest() { EXPECT_TRUE(Recorder::Open(ring_->file()).ok()); }
  ~OverheadTest() override {
    Recorder::SetMode(RecordMode::kExact);
    Recorder::Close();
    static auto* closed = new std::vector<std::unique_ptr<FakeRing>>();  // stays mapped
    closed->push_back(std::move(ring_));
  }
  // The app's threads take so many chunks.
  void Claim(uint64_t chunks) { ring_->header()->next_sequence.fetch_add(chunks); }
  // A second in which recording takes `permille` of a core at 1.5 ns an event.
  void BusySecond(Overhead* overhead, uint64_t permille, uint64_t own_cpu_ns = 0) {
    const double events = static_cast<double>(permille) * 1e6 / 1.5;
    Claim(static_cast<uint64_t>(events) / kWordsPerChunk + 1);
    now_ns_ += kNsPerSecond;
    overhead->Look(now_ns_, own_cpu_ns);
  }
  std::vector<std::string> Modes() {
    std::vector<std::string> modes;
    for (const RecordedMode& mode : RecordModesBetween(*ring_->header(), 0, UINT64_MAX)) {
      modes.push_back(std::string(RecordModeName(mode.mode)) + " " +
                      RecordModeReasonName(mode.reason));
    }
    return modes;
  }

  std::unique_ptr<FakeRing> ring_ = std::make_unique<FakeRing>();
  uint64_t now_ns_ = 1000 * kNsPerSecond;
};

TEST_F(OverheadTest, RecordingCostsWhatItsWordsCost) {
  Overhead overhead(ring_->file(), 10, std::nullopt);
  overhead.Begin(0.0);  // reading the clock costs nothing: 1.5 ns a word are left
  overhead.Look(now_ns_, 0);
  const uint64_t before = overhead.recorded_ns();
  Claim(100);
  overhead.Look(now_ns_ + kNsPerSecond, 0);
  EXPECT_EQ(overhead.recorded_ns() - before,
            static_cast<uint64_t>(100 * static_cast<double>(kWordsPerChunk) * 1.5));
  overhead.Look(now_ns_ + 2 * kNsPerSecond, 0);
  EXPECT_EQ(overhead.recorded_ns() - before,
            static_cast<uint64_t>(100 * static_cast<double>(kWordsPerChunk) * 1.5))
      << "a second without an event adds nothing";
}

TEST_F(OverheadTest, MeasuredClockIsPartOfAnEventsCost) {
  Overhead cheap(ring_->file(), 10, std::nullopt);
  cheap.Begin(0.0);
  Overhead dear(ring_->file(), 10, std::nullopt);
  dear.Begin(1.0);
  Claim(10);
  cheap.Look(now_ns_, 0);
  dear.Look(now_ns_, 0);
  EXPECT_GT(dear.recorded_ns(), cheap.recorded_ns());
}

TEST_F(OverheadTest, FirstModeIsNotedAsTheStart) {
  Overhead overhead(ring_->file(), 10, std::nullopt);
  overhead.Begin(0.0);
  EXPECT_THAT(Modes(), ElementsAre("exact start"));
}

TEST_F(OverheadTest, TwoSecondsOverTheBudgetCostAStep) {
  Overhead overhead(ring_->file(), 10, std::nullopt);
  overhead.Begin(0.0);
  overhead.Look(now_ns_, 0);
  BusySecond(&overhead, 50);
  EXPECT_THAT(Modes(), SizeIs(1)) << "one second may be a burst";
  BusySecond(&overhead, 50);
  EXPECT_THAT(Modes(), ElementsAre("exact start", "coarse over budget"));
  overhead.End();
}

TEST_F(OverheadTest, CoarseEventsCostTheirWritesAlone) {
  Overhead overhead(ring_->file(), 10, std::nullopt);
  overhead.Begin(0.0);
  overhead.Look(now_ns_, 0);
  BusySecond(&overhead, 50);
  BusySecond(&overhead, 50);
  ASSERT_THAT(Modes(), SizeIs(2));
  const uint64_t before = overhead.recorded_ns();
  Claim(100);
  overhead.Look(now_ns_ += kNsPerSecond, 0);
  EXPECT_EQ(overhead.recorded_ns() - before,
            static_cast<uint64_t>(100 * static_cast<double>(kWordsPerChunk) * 3.0));
  overhead.End();
}

TEST_F(OverheadTest, CostOfJankboxsOwnThreadsIsNoReasonToRecordLess) {
  Overhead overhead(ring_->file(), 10, std::nullopt);
  overhead.Begin(0.0);
  overhead.Look(now_ns_, 0);
  for (uint64_t second = 1; second <= 10; ++second) {
    BusySecond(&overhead, 1, second * kNsPerSecond / 2);
  }
  EXPECT_THAT(Modes(), ElementsAre("exact start")) << "recording less would not help";
}

TEST_F(OverheadTest, QuietAppComesBackToTheExactMode) {
  Overhead overhead(ring_->file(), 10, std::nullopt);
  overhead.Begin(0.0);
  overhead.Look(now_ns_, 0);
  BusySecond(&overhead, 50);
  BusySecond(&overhead, 50);
  for (int second = 0; second < 12; ++second) overhead.Look(now_ns_ += kNsPerSecond, 0);
  EXPECT_THAT(Modes(), ElementsAre("exact start", "coarse over budget", "exact within budget"));
  overhead.End();
}

TEST_F(OverheadTest, FixedModeStaysWhateverItCosts) {
  Overhead overhead(ring_->file(), 10, RecordMode::kExact);
  overhead.Begin(0.0);
  overhead.Look(now_ns_, 0);
  for (int second = 0; second < 10; ++second) BusySecond(&overhead, 500);
  EXPECT_THAT(Modes(), ElementsAre("exact option"));
  EXPECT_GT(overhead.recorded_ns(), 4 * kNsPerSecond) << "and is counted all the same";
}

TEST_F(OverheadTest, FixedCoarseModeHasItsClock) {
  Overhead overhead(ring_->file(), 10, RecordMode::kCoarse);
  overhead.Begin(0.0);
  EXPECT_THAT(Modes(), ElementsAre("coarse option"));
  EXPECT_NE(ring_->header()->coarse_ticks.load(), 0u) << "there is a tick before the first event";
  overhead.End();
}

TEST_F(OverheadTest, WithoutABudgetTheModeNeverChanges) {
  Overhead overhead(ring_->file(), 0, std::nullopt);
  overhead.Begin(0.0);
  overhead.Look(now_ns_, 0);
  for (int second = 0; second < 10; ++second) BusySecond(&overhead, 900);
  EXPECT_THAT(Modes(), ElementsAre("exact start"));
}

// The thread that renews the shared tick.
class CoarseClockTest : public OverheadTest {
 protected:
  RingHeader* header() { return ring_->header(); }
  // Waits until the tick is another one.
  uint64_t NextTick(uint64_t last) {
    uint64_t tick = last;
    while ((tick = header()->coarse_ticks.load(std::memory_order_relaxed)) == last) sched_yield();
    return tick;
  }
};

TEST_F(CoarseClockTest, TickGoesOnWhileItRunsAndStandsStillAfterwards) {
  CoarseClock clock;
  clock.Start();
  uint64_t tick = 0;
  for (int i = 0; i < 5; ++i) {
    const uint64_t next = NextTick(tick);
    EXPECT_GT(next, tick);
    tick = next;
  }
  clock.Stop();
  EXPECT_GT(header()->coarse_error_ticks.load(), 0u) << "how long a tick stood, at worst";
  EXPECT_GT(clock.cpu_ns(), 0u);
}

TEST_F(CoarseClockTest, CostOfEarlierThreadsIsKept) {
  CoarseClock clock;
  clock.Start();
  for (uint64_t tick = 0, i = 0; i < 4; ++i) tick = NextTick(tick);
  clock.Stop();
  const uint64_t first = clock.cpu_ns();
  EXPECT_GT(first, 0u);
  clock.Start();
  EXPECT_GE(clock.cpu_ns(), first);
  clock.Stop();
  EXPECT_GE(clock.cpu_ns(), first);
}

TEST_F(CoarseClockTest, StartAndStopMayBeSaidTwice) {
  CoarseClock clock;
  clock.Stop();
  clock.Start();
  clock.Start();
  clock.Stop();
  clock.Stop();
  EXPECT_NE(header()->coarse_ticks.load(), 0u);
}

}  // namespace
}  // namespace jankbox
