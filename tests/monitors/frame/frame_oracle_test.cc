// Streams of frames of every usual rate, with changes of it on the way, through the ring, the queue
// and the watcher's side: what is counted is what closed forms say.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <vector>

#include "monitors/frame/frame_book.h"
#include "monitors/frame/frame_monitor.h"
#include "monitors/frame/frame_watch.h"
#include "monitors/incident/refusals.h"

namespace jankbox {
namespace {

class Sink : public SignalSink {
 public:
  void OnSignal(const Signal& signal) override { signals.push_back(signal); }
  std::vector<Signal> signals;
};

class FrameOracle : public testing::Test {
 protected:
  FrameOracle() : watch_(0, &refusals_) {
    FrameMonitor::Start({});
    FrameBook::Get().Clear();
    ring_.watched[0].tid = 1;
  }

  void Show(const FrameEvent& frame) {
    FrameMonitor::OnFrame(WatchedSlot(&ring_, 0), frame);
    Look();
  }
  void Look() {
    do watch_.Look(kLongAfter, holds_, idle_ns_, &sink_);
    while (watch_.pending());
  }
  static SceneFrames Counted() { return FrameBook::Get().Summary().scenes.at(0).frames; }

  template <typename Oracle>
  void ExpectAsIn(const Oracle& oracle) {
    const SceneFrames counted = Counted();
    ASSERT_GT(oracle.frames, 50u);
    EXPECT_EQ(counted.frames, oracle.frames);
    EXPECT_EQ(counted.dropped, oracle.dropped);
    EXPECT_TRUE(std::equal(std::begin(counted.bands), std::end(counted.bands), oracle.bands));
    EXPECT_EQ(counted.janky, oracle.janky);
    EXPECT_EQ(sink_.signals.size(), oracle.janky);
    EXPECT_EQ(refusals_.count(RefusalReason::kBadMetrics), 0u);
  }

  static constexpr uint64_t kLongAfter = 1'000'000'000'000;

  RingHeader ring_{};
  HoldHistory holds_;
  uint64_t idle_ns_ = 0;
  Refusals refusals_;
  FrameWatch watch_;
  Sink sink_;
};

// What a stream came to by closed forms: a frame whose total is k intervals and a rest of less than
// one drops k - 1 of them.
struct Oracle {
  uint64_t frames = 0;
  uint64_t dropped = 0;
  uint64_t bands[kFrameBandCount] = {};
  uint64_t janky = 0;
};

constexpr uint64_t kRates[] = {30, 60, 90, 120, 144, 240};
constexpr uint64_t kStreamNs = 9'000'000'000;  // less than a period of the statistics

class Stream {
 public:
  explicit Stream(uint64_t seed) : random_(seed) {}

  // The next frame, on a display of `hz`.
  FrameEvent Next(uint64_t hz) {
    const uint64_t interval = 1'000'000'000 / hz;
    // Most are in time or little late; some are up to 50 intervals of 60 Hz.
    const uint64_t k = oracle.frames % 9 != 0 ? random_() % 3 : random_() % (50 * hz / 60);
    const uint64_t rest = random_() % interval;
    const FrameEvent frame = {.vsync_ns = at_ns_,
                              .interval_ns = interval,
                              .start_ns = at_ns_ + std::min(rest, k * interval) / 2,
                              .end_ns = at_ns_ + k * interval + rest};
    ++oracle.frames;
    oracle.dropped += k > 1 ? k - 1 : 0;
    const double late_ns = k == 0 ? 0 : static_cast<double>((k - 1) * interval + rest);
    size_t band = 0;
    for (double border : {3, 9, 24, 42}) band += late_ns >= border * 1e9 / 60 * (1 - 1e-6) ? 1 : 0;
    ++oracle.bands[band];
    oracle.janky += band >= 2 || k * interval + rest >= 700'000'000 ? 1 : 0;
    at_ns_ = frame.end_ns + random_() % (2 * interval);  // idle time is nothing
    return frame;
  }
  bool over() const { return at_ns_ >= kStartNs + kStreamNs; }
  bool half_over() const { return at_ns_ >= kStartNs + kStreamNs / 2; }

  Oracle oracle;

 private:
  static constexpr uint64_t kStartNs = 1'000'000'000;
  std::mt19937_64 random_;
  uint64_t at_ns_ = kStartNs;
};

TEST_F(FrameOracle, CountsOfEveryRateAndOfChangesInMidRunAreTheClosedForms) {
  for (uint64_t first : kRates) {
    for (uint64_t second : kRates) {
      FrameBook::Get().Clear();
      sink_.signals.clear();
      Stream stream(first * 1000 + second);
      while (!stream.over()) Show(stream.Next(stream.half_over() ? second : first));
      ExpectAsIn(stream.oracle);
    }
  }
}

TEST_F(FrameOracle, CountsOfAVariableRateAreTheClosedForms) {
  std::mt19937_64 random(3);
  Stream stream(11);
  while (!stream.over()) Show(stream.Next(30 + random() % 211));
  ExpectAsIn(stream.oracle);
}

TEST_F(FrameOracle, EveryFrameIsCountedHoweverManyTheWatcherFinds) {
  for (uint64_t i = 0; i < FrameQueue::kFrames + 10; ++i) {
    const uint64_t at_ns = 1'000'000'000 + i * 4'000'000;
    FrameMonitor::OnFrame(WatchedSlot(&ring_, 0), {.start_ns = at_ns, .end_ns = at_ns + 3'000'000});
  }
  Look();
  EXPECT_EQ(FrameBook::Get().Summary().lost, 10u);
  EXPECT_EQ(Counted().frames, FrameQueue::kFrames);
  EXPECT_EQ(ring_.watched[0].frame_count.load(), FrameQueue::kFrames + 10);
}

TEST_F(FrameOracle, OutliersAreSkippedAndCounted) {
  const FrameEvent good = {.vsync_ns = 1'000'000'000,
                           .interval_ns = kReferenceIntervalNs,
                           .start_ns = 1'000'500'000,
                           .end_ns = 1'010'000'000};
  uint64_t bad = 0;
  using Field = uint64_t FrameEvent::*;
  for (Field field : {&FrameEvent::vsync_ns, &FrameEvent::deadline_ns, &FrameEvent::interval_ns,
                      &FrameEvent::start_ns, &FrameEvent::end_ns}) {
    for (uint64_t value : {static_cast<uint64_t>(-1), static_cast<uint64_t>(INT64_MIN),
                           uint64_t{1} << 62, uint64_t{9'200'000'000'000'000'000}}) {
      FrameEvent frame = good;
      frame.*field = value;
      Show(frame);
      ++bad;
      Show(good);
    }
  }
  EXPECT_EQ(refusals_.count(RefusalReason::kBadMetrics), bad);
  EXPECT_EQ(Counted().frames, bad);
  EXPECT_EQ(Counted().dropped, 0u);
  EXPECT_EQ(Counted().p99_ns / 1'000'000, 9u);  // 10 ms, to 1 %
  EXPECT_TRUE(sink_.signals.empty());
}

TEST_F(FrameOracle, FrameWithoutAnIntervalHasTheLastOnesElse60Hz) {
  FrameEvent frame = {.start_ns = 1'000'000'000, .end_ns = 1'100'000'000};
  Show(frame);
  EXPECT_EQ(Counted().interval_ns, kReferenceIntervalNs);
  frame.interval_ns = 5'000'000;
  Show(frame);
  frame.interval_ns = 0;
  frame.start_ns += 200'000'000;
  frame.end_ns += 200'000'000;
  Show(frame);
  EXPECT_EQ(Counted().interval_ns, 5'000'000u);
}

TEST_F(FrameOracle, MarkedPhasesAreTheFramesUnlessItHasThem) {
  const auto mark = [this](FramePhase phase, uint64_t at_ns) {
    FrameMonitor::MarkPhase(WatchedSlot(&ring_, 0), phase, at_ns);
  };
  mark(FramePhase::kInput, 1'000'000'000);
  mark(FramePhase::kAnimation, 1'001'000'000);
  mark(FramePhase::kTraversal, 1'003'000'000);
  mark(FramePhase::kAnimation, 1'006'000'000);  // again
  FrameEvent frame = {.start_ns = 1'000'000'000, .end_ns = 1'010'000'000};
  Show(frame);
  using Costs = std::vector<uint64_t>;
  const auto costs = [] {
    const SceneFrames counted = Counted();
    return Costs(std::begin(counted.phase_mean_ns), std::end(counted.phase_mean_ns));
  };
  EXPECT_EQ(costs(), (Costs{1'000'000, 6'000'000, 0, 3'000'000, 0}));
  FrameBook::Get().Clear();
  mark(FramePhase::kCommit, 2'000'000'000);
  frame.phase_ns[0] = 7;
  Show(frame);  // takes the marks away
  frame.phase_ns[0] = 0;
  Show(frame);
  EXPECT_EQ(costs(), (Costs{3, 0, 0, 0, 0}));
}

TEST_F(FrameOracle, LateFramesOfOnePollAreAllReported) {
  FrameEvent frame = {.start_ns = 1'000'000'000, .end_ns = 1'300'000'000};
  for (int i = 0; i < 5; ++i) {
    FrameMonitor::OnFrame(WatchedSlot(&ring_, 0), frame);
    frame.start_ns += 400'000'000;
    frame.end_ns += 400'000'000;
  }
  Look();
  ASSERT_EQ(sink_.signals.size(), 5u);
  EXPECT_EQ(sink_.signals[4].begin_ns, 2'600'000'000u);
  EXPECT_EQ(sink_.signals[0].dropped_frames, 16u);
  EXPECT_EQ(sink_.signals[0].what, "doFrame");
}

TEST_F(FrameOracle, TimeInWhichTheProcessWasStoppedIsNoPartOfAFrame) {
  holds_.Add({RefusalReason::kStopped, 1'010'000'000, 2'000'000'000, 0});
  Show({.start_ns = 1'000'000'000, .end_ns = 2'005'000'000});
  EXPECT_EQ(Counted().dropped, 0u);
  EXPECT_TRUE(sink_.signals.empty());
  EXPECT_EQ(refusals_.count(RefusalReason::kStopped), 1u);
  holds_.Add({RefusalReason::kStopped, 3'010'000'000, 4'000'000'000, 0});
  Show({.start_ns = 3'000'000'000, .end_ns = 4'290'000'000});  // 300 ms of its own
  ASSERT_EQ(sink_.signals.size(), 1u);
  EXPECT_EQ(sink_.signals[0].dropped_frames, 16u);
  EXPECT_EQ(sink_.signals[0].end_ns, 4'290'000'000u);
}

TEST_F(FrameOracle, AVsyncWithoutAWaitingThreadIsNotLate) {
  idle_ns_ = 2'990'000'000;
  Show({.vsync_ns = 1'000'000'000, .start_ns = 3'000'000'000, .end_ns = 3'005'000'000});
  EXPECT_TRUE(sink_.signals.empty());
  EXPECT_EQ(refusals_.count(RefusalReason::kNotRendering), 1u);
  Show({.vsync_ns = 2'000'000'000, .start_ns = 3'010'000'000, .end_ns = 3'290'000'000});
  ASSERT_EQ(sink_.signals.size(), 1u);
  EXPECT_EQ(sink_.signals[0].dropped_frames, 16u);  // of the 300 ms since it was idle
}

TEST_F(FrameOracle, FrameThatEndsAfterThePollWaitsForTheNext) {
  FrameMonitor::OnFrame(WatchedSlot(&ring_, 0),
                        {.start_ns = 1'000'000'000, .end_ns = 1'300'000'000});
  watch_.Look(1'299'999'999, holds_, 0, &sink_);
  EXPECT_TRUE(sink_.signals.empty());
  watch_.Look(1'300'000'000, holds_, 0, &sink_);
  EXPECT_EQ(sink_.signals.size(), 1u);
}

}  // namespace
}  // namespace jankbox
