#include "monitors/frame/swap_frames.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kInterval = 16 * kMs;

class SwapFramesTest : public testing::Test {
 protected:
  // Length of the frame that a swap from `begin_ms` to `end_ms` ends; 0: none.
  uint64_t SwapMs(uint64_t begin_ms, uint64_t end_ms, uint64_t dispatch_ms = 0) {
    FrameEvent frame;
    const bool told = frames_.OnSwap(begin_ms * kMs, dispatch_ms * kMs, &frame);
    frames_.OnSwapDone(end_ms * kMs);
    return told ? (frame.end_ns - frame.start_ns) / kMs : 0;
  }
  void Idle(uint64_t begin_ms, uint64_t end_ms) {
    frames_.OnIdle(begin_ms * kMs, end_ms * kMs, kInterval);
  }

  SwapFrames frames_;
};

TEST_F(SwapFramesTest, WorkIsBetweenTwoSwapsAndASwapThatWaitsIsNone) {
  EXPECT_EQ(SwapMs(1000, 1016), 0u);  // nobody knows since when
  EXPECT_EQ(SwapMs(1020, 1032), 4u);
  EXPECT_EQ(SwapMs(1232, 1240), 200u);
}

TEST_F(SwapFramesTest, ADispatchBeginsAFrameAndTheWaitBeforeItIsNone) {
  EXPECT_EQ(SwapMs(1010, 1011, 1003), 7u);
  EXPECT_EQ(SwapMs(3010, 3011, 3001), 9u);  // two seconds in the loop's wait
  EXPECT_EQ(SwapMs(3020, 3021, 3001), 9u);  // the second swap of one dispatch
}

TEST_F(SwapFramesTest, SleepOfALoopWithoutDispatchesIsNoWork) {
  SwapMs(1000, 1001);
  Idle(1003, 3003);  // SDL_Delay(2000)
  EXPECT_EQ(SwapMs(3007, 3008), 4u);
}

TEST_F(SwapFramesTest, APauseBeforeTheFirstSwapSaysWhenItsWorkBegan) {
  Idle(1000, 1100);
  EXPECT_EQ(SwapMs(1105, 1106), 5u);
}

TEST_F(SwapFramesTest, LookingForEventsEveryMillisecondIsNoWork) {
  SwapMs(1000, 1001);
  for (uint64_t ms = 1001; ms < 3001; ms += 2) Idle(ms, ms + 1);
  EXPECT_EQ(SwapMs(3004, 3005), 4u);
}

TEST_F(SwapFramesTest, AShortPauseDoesNotHideTheWorkBeforeIt) {
  SwapMs(1000, 1001);
  Idle(1201, 1202);
  EXPECT_EQ(SwapMs(1205, 1206), 204u);
}

TEST_F(SwapFramesTest, WorkBeforeALongPauseWasNoFrame) {
  SwapMs(1000, 1001);
  Idle(1201, 1301);
  EXPECT_EQ(SwapMs(1305, 1306), 4u);
}

}  // namespace
}  // namespace jankbox
