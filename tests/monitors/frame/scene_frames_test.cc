#include "monitors/frame/scene_frames.h"

#include <gtest/gtest.h>

#include "monitors/frame/frame_book.h"
#include "monitors/frame/state_tags.h"

namespace jankbox {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t k50Hz = 20 * kMs;

FrameEvent Frame(uint64_t vsync_ms, uint64_t total_ms) {
  return {.vsync_ns = vsync_ms * kMs,
          .interval_ns = k50Hz,
          .start_ns = vsync_ms * kMs + 2 * kMs,
          .end_ns = (vsync_ms + total_ms) * kMs,
          .phase_ns = {kMs, 2 * kMs, 0, 3 * kMs, 0}};
}

TEST(SceneCounter, AddsUp) {
  SceneCounter counter;
  for (uint64_t i = 0; i < 98; ++i) counter.Add(Frame(1000 + i * 20, 10), false);
  counter.Add(Frame(5000, 240), true);  // drops 11: 220 ms
  FrameEvent frozen = Frame(6000, 900);
  frozen.fate = FrameFate::kDiscarded;
  counter.Add(frozen, true);
  const SceneFrames result = counter.Result();
  EXPECT_EQ(result.frames, 100u);
  EXPECT_EQ(result.bands[0], 98u);
  EXPECT_EQ(result.bands[2], 1u);
  EXPECT_EQ(result.bands[4], 1u);
  EXPECT_EQ(result.dropped, 11u + 44u);
  EXPECT_EQ(result.janky, 2u);
  EXPECT_EQ(result.frozen, 1u);
  EXPECT_EQ(result.discarded, 1u);
  EXPECT_EQ(result.phase_mean_ns[3], 3 * kMs);
  EXPECT_EQ(result.jitter_mean_ns, 2 * kMs);
  EXPECT_NEAR(static_cast<double>(result.p50_ns), 10e6, 0.1e6);
  EXPECT_NEAR(static_cast<double>(result.p99_ns), 240e6, 2.4e6);
  EXPECT_EQ(result.from_ns, 1000 * kMs);
  EXPECT_EQ(result.to_ns, 6900 * kMs);
  // 100 frames in the time of 155 intervals of 20 ms; the idle seconds between do not count.
  EXPECT_EQ(result.fps_milli, 100'000'000u / (155 * 20));
}

class FrameBookTest : public testing::Test {
 protected:
  FrameBookTest() { FrameBook::Get().Clear(); }
  ~FrameBookTest() override { StateTags::Get().Remove("screen", 9); }
  static void Show(uint64_t from_ms, uint64_t to_ms) {
    for (uint64_t at = from_ms; at < to_ms; at += 20) {
      FrameBook::Get().Add({Frame(at, 10), StateTags::CurrentScene()}, false);
    }
  }
  static std::vector<NamedSceneFrames> Scenes() { return FrameBook::Get().Summary().scenes; }
};

TEST_F(FrameBookTest, APeriodIsTenSecondsAndItsNumbersStayUntilTheNextIsOver) {
  Show(1000, 10'000);
  EXPECT_EQ(Scenes()[0].frames.frames, 450u);  // so far
  Show(10'000, 11'200);
  EXPECT_EQ(Scenes()[0].frames.frames, 500u);
  Show(11'200, 20'900);
  EXPECT_EQ(Scenes()[0].frames.frames, 500u);
  EXPECT_LT(Scenes()[0].frames.to_ns, 11'100 * kMs);
  Show(20'900, 21'400);
  EXPECT_GT(Scenes()[0].frames.from_ns, 10'900 * kMs);
}

TEST_F(FrameBookTest, TwentyFramesAreTooFewForAPeriod) {
  Show(1000, 1400);      // 20
  Show(30'000, 30'020);  // long after the ten seconds
  EXPECT_EQ(Scenes()[0].frames.frames, 21u);
  Show(30'020, 30'040);
  EXPECT_EQ(Scenes()[0].frames.frames, 21u);  // over now; one is in the next
}

TEST_F(FrameBookTest, ScenesAreTheStateScreenAndTheLatestIsFirst) {
  StateTags& tags = StateTags::Get();
  Show(1000, 1100);
  tags.Set("screen", "Cart", 2);
  Show(1100, 1200);
  tags.Set("screen", "Checkout", 3);
  tags.Set("user", "new", 3);
  Show(1200, 1400);
  tags.Set("screen", "Cart", 4);
  Show(1400, 1500);
  const auto scenes = Scenes();
  ASSERT_EQ(scenes.size(), 3u);
  EXPECT_EQ(scenes[0].scene, "Cart");
  EXPECT_EQ(scenes[0].frames.frames, 10u);
  EXPECT_EQ(scenes[1].scene, "Checkout");
  EXPECT_EQ(scenes[1].frames.frames, 10u);
  EXPECT_EQ(scenes[2].scene, "");
  EXPECT_EQ(scenes[2].frames.frames, 5u);
  tags.Remove("user", 5);
}

TEST_F(FrameBookTest, KeepsTheScenesWithTheLatestFramesAndTheLastJankyFrames) {
  for (uint32_t i = 0; i < FrameBook::kMaxScenes + 3; ++i) {
    FrameBook::Get().Add({Frame(1000 + i, 300), i}, true);
  }
  const FrameSummary summary = FrameBook::Get().Summary();
  EXPECT_EQ(summary.scenes.size(), FrameBook::kMaxScenes);
  EXPECT_EQ(summary.scenes.front().frames.from_ns, (1000 + FrameBook::kMaxScenes + 2) * kMs);
  EXPECT_EQ(summary.scenes.back().frames.from_ns, 1003 * kMs);
  ASSERT_EQ(summary.janky.size(), FrameBook::kMaxJanky);
  EXPECT_EQ(summary.janky.back().frame.vsync_ns, summary.scenes.front().frames.from_ns);
}

}  // namespace
}  // namespace jankbox
