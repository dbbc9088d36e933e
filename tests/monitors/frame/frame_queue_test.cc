#include "monitors/frame/frame_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace jankbox {
namespace {

TEST(FrameQueue, GivesEveryFrameOnceInOrderAndCountsWhatDoesNotFit) {
  auto queue = std::make_unique<FrameQueue>();
  QueuedFrame queued;
  EXPECT_FALSE(queue->Pop(&queued));
  for (uint64_t round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < FrameQueue::kFrames + 5; ++i) {
      EXPECT_EQ(queue->Push({.vsync_id = i}, static_cast<uint32_t>(i)), i < FrameQueue::kFrames);
    }
    EXPECT_EQ(queue->TakeLost(), 5u);
    EXPECT_EQ(queue->TakeLost(), 0u);
    for (uint64_t i = 0; i < FrameQueue::kFrames; ++i) {
      ASSERT_TRUE(queue->Pop(&queued));
      EXPECT_EQ(queued.frame.vsync_id, i);
      EXPECT_EQ(queued.scene, i);
    }
    EXPECT_FALSE(queue->Pop(&queued));
  }
}

TEST(FrameQueue, FramesAreWholeWhileBothSidesRun) {
  auto queue = std::make_unique<FrameQueue>();
  constexpr uint64_t kFrames = 200'000;
  uint64_t pushed = 0;
  std::thread producer([&] {
    for (uint64_t i = 1; i <= kFrames; ++i) {
      const FrameEvent frame = {.vsync_ns = i, .end_ns = i, .presented_ns = i, .phase_ns = {i}};
      pushed += queue->Push(frame, static_cast<uint32_t>(i)) ? 1 : 0;
    }
  });
  uint64_t popped = 0, lost = 0, last = 0;
  QueuedFrame queued;
  while (popped + lost < kFrames) {
    lost += queue->TakeLost();
    while (queue->Pop(&queued)) {
      ++popped;
      ASSERT_GT(queued.frame.vsync_ns, last);
      last = queued.frame.vsync_ns;
      ASSERT_TRUE(queued.frame.end_ns == last && queued.frame.presented_ns == last &&
                  queued.frame.phase_ns[0] == last && queued.scene == last);
    }
  }
  producer.join();
  EXPECT_EQ(popped, pushed);
}

TEST(FrameQueue, OneSourceAThreadTheBetterOneOrTheOneThatSpeaks) {
  auto queue = std::make_unique<FrameQueue>();
  constexpr uint64_t kSecond = 1'000'000'000;
  EXPECT_TRUE(queue->Accepts(FrameSource::kEgl, 1 * kSecond));
  EXPECT_TRUE(queue->Accepts(FrameSource::kSdl, 1 * kSecond));   // better: it calls EGL
  EXPECT_FALSE(queue->Accepts(FrameSource::kEgl, 2 * kSecond));  // the same frame again
  EXPECT_TRUE(queue->Accepts(FrameSource::kApi, 3 * kSecond));
  EXPECT_FALSE(queue->Accepts(FrameSource::kSdl, 8 * kSecond));
  EXPECT_TRUE(queue->Accepts(FrameSource::kEgl, 9 * kSecond));  // the program stopped saying
}

}  // namespace
}  // namespace jankbox
