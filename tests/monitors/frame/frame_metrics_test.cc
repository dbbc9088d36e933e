#include "monitors/frame/frame_metrics.h"

#include <gtest/gtest.h>

#include <vector>

#include "monitors/frame/frame_policy.h"

namespace jankbox {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr uint64_t k60 = kReferenceIntervalNs;

// API 31: 3 ms late, 45 ms in all.
std::vector<int64_t> Metrics() {
  return {3 * kMs, 1 * kMs,  2 * kMs, 20 * kMs,   10 * kMs,   1 * kMs, 5 * kMs,
          3 * kMs, 45 * kMs, 0,       1000 * kMs, 1000 * kMs, 4 * kMs, 16 * kMs};
}

TEST(FrameMetrics, BecomeAFrameWithItsPhases) {
  const FrameEvent frame = FrameOfMetrics(Metrics(), k60, 9000 * kMs);
  EXPECT_TRUE(IsPlausible(frame));
  EXPECT_EQ(frame.vsync_ns, 1'000'000'000u);
  EXPECT_EQ(TotalNs(frame), 45'000'000u);
  EXPECT_EQ(JitterNs(frame), 3'000'000u);
  EXPECT_EQ(frame.deadline_ns, 1'016'000'000u);
  EXPECT_EQ(DroppedIntervals(frame), 1u);
  EXPECT_EQ(frame.phase_ns[0], 1'000'000u);
  EXPECT_EQ(frame.phase_ns[1], 2'000'000u);
  EXPECT_EQ(frame.phase_ns[3], 30'000'000u);
  EXPECT_EQ(frame.phase_ns[4], 9'000'000u);
}

TEST(FrameMetrics, OfApi24HaveNoVsyncAndEndNow) {
  std::vector<int64_t> metrics = Metrics();
  metrics.resize(10);
  const FrameEvent frame = FrameOfMetrics(metrics, k60, 9'000'000'000);
  EXPECT_TRUE(IsPlausible(frame));
  EXPECT_EQ(frame.end_ns, 9'000'000'000u);
  EXPECT_EQ(TotalNs(frame), 45'000'000u);
  EXPECT_EQ(frame.deadline_ns, 0u);
}

TEST(FrameMetrics, AnyOutlierMakesTheFrameImplausible) {
  for (size_t i = 0; i < static_cast<size_t>(FrameMetric::kVsyncId); ++i) {
    for (int64_t bad : {int64_t{-1}, INT64_MIN, int64_t{1} << 62, INT64_MAX}) {
      std::vector<int64_t> metrics = Metrics();
      metrics[i] = bad;
      EXPECT_FALSE(IsPlausible(FrameOfMetrics(metrics, k60, 9000 * kMs))) << i << " " << bad;
    }
  }
}

TEST(FrameMetrics, VsyncIdIsNoTime) {
  std::vector<int64_t> metrics = Metrics();
  metrics.push_back(4711);
  EXPECT_EQ(FrameOfMetrics(metrics, k60, 9000 * kMs).vsync_id, 4711u);
  metrics.back() = -1;  // it has none
  const FrameEvent frame = FrameOfMetrics(metrics, k60, 9000 * kMs);
  EXPECT_EQ(frame.vsync_id, 0u);
  EXPECT_TRUE(IsPlausible(frame));
}

}  // namespace
}  // namespace jankbox
