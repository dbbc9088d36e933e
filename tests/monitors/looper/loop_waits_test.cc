#include "monitors/looper/loop_waits.h"

#include <gtest/gtest.h>

#include <array>

namespace jankbox {
namespace {

constexpr LoopModule kProgram = {};
constexpr LoopModule kGlib = {LoopModuleKind::kLoop, "glib"};
constexpr LoopModule kXcb = {LoopModuleKind::kDisplay, ""};
constexpr LoopModule kNode = {LoopModuleKind::kOther, "libuv"};

// A stack that the rules may look at: index 0 is the deepest word.
class LoopWaitsTest : public testing::Test {
 protected:
  bool Wait(int call_site, size_t depth_word, LoopModule module, int fd = -1,
            WaitFamily family = WaitFamily::kPoll) {
    WaitCall call;
    call.call_site = reinterpret_cast<const void*>(static_cast<uintptr_t>(0x1000 + call_site));
    call.stack = &stack_[depth_word];
    call.family = family;
    call.fd = fd;
    call.fds = &fd;
    call.fd_count = fd >= 0 ? 1 : 0;
    call.fd_stride = sizeof(fd);
    return waits_.DecideWait(call, module);
  }
  // What happens on a stack when its function returns and another takes its place.
  void Overwrite(size_t from, size_t words) {
    for (size_t i = 0; i < words; ++i) stack_[from + i] += 77;
  }

  std::array<uintptr_t, 1024> stack_{};
  LoopWaits waits_;
};

TEST_F(LoopWaitsTest, LoopLibraryIsAdoptedAtFirstSight) {
  EXPECT_TRUE(Wait(1, 500, kGlib, 3));
  EXPECT_STREQ(waits_.loop_name(), "glib");
  EXPECT_TRUE(Wait(1, 500, kGlib, 3));
}

TEST_F(LoopWaitsTest, EpollOfAProgramIsAdoptedAtFirstSight) {
  EXPECT_TRUE(Wait(1, 500, kNode, 9, WaitFamily::kEpoll));
  EXPECT_STREQ(waits_.loop_name(), "libuv");
}

TEST_F(LoopWaitsTest, PollOfAProgramIsAdoptedWhenItRecurs) {
  EXPECT_FALSE(Wait(1, 500, kProgram));
  EXPECT_FALSE(Wait(1, 500, kProgram));
  EXPECT_TRUE(Wait(1, 500, kProgram));
  EXPECT_STREQ(waits_.loop_name(), "poll");
}

TEST_F(LoopWaitsTest, WaitsForRepliesNeverAre) {
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(Wait(2, 300, kXcb, 5));
  EXPECT_TRUE(Wait(1, 500, kGlib, 3));
  for (int i = 0; i < 1700; ++i) EXPECT_FALSE(Wait(2, 700, kXcb, 5));  // not even a shallower one
}

TEST_F(LoopWaitsTest, DeeperPollsOfALivingLoopBelongToTheDispatch) {
  EXPECT_TRUE(Wait(1, 500, kGlib, 3));
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(Wait(4, 300, kProgram, 8));
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(Wait(5, 310, kProgram, 8, WaitFamily::kEpoll));
  EXPECT_TRUE(Wait(1, 500, kGlib, 3));
}

TEST_F(LoopWaitsTest, NestedRunOfTheSameContextIsTheLoop) {
  EXPECT_TRUE(Wait(1, 500, kGlib, 3));
  EXPECT_TRUE(Wait(1, 200, kGlib, 3));   // modal dialog
  EXPECT_FALSE(Wait(1, 200, kGlib, 4));  // a private context, waited for synchronously
  EXPECT_TRUE(Wait(1, 500, kGlib, 3));
}

TEST_F(LoopWaitsTest, ShallowerLoopTakesOver) {
  EXPECT_TRUE(Wait(1, 200, kGlib, 3));  // iterated once while starting up
  EXPECT_TRUE(Wait(1, 500, kGlib, 3));  // g_main_loop_run from main
  EXPECT_FALSE(Wait(1, 200, kGlib, 4));
}

TEST_F(LoopWaitsTest, DeeperLoopTakesOverOnlyWhenTheOldFrameIsGone) {
  for (int i = 0; i < 3; ++i) Wait(6, 500, kProgram, 5);  // main polled by itself first
  EXPECT_FALSE(Wait(1, 400, kGlib, 3));  // as far as anybody can say inside its dispatch
  Overwrite(500, 32);
  EXPECT_FALSE(Wait(1, 400, kGlib, 3));
  EXPECT_FALSE(Wait(1, 400, kGlib, 3));
  EXPECT_TRUE(Wait(1, 400, kGlib, 3));
  EXPECT_STREQ(waits_.loop_name(), "glib");
}

TEST_F(LoopWaitsTest, ChangedLocalsDoNotKillALoop) {
  EXPECT_TRUE(Wait(1, 500, kGlib, 3));
  Overwrite(505, 4);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(Wait(4, 300, kProgram, 8));
}

TEST_F(LoopWaitsTest, EventThatALoopReadsIntoItsFrameDoesNotKillIt) {
  for (int i = 0; i < 5; ++i) {
    Wait(1, 500, kProgram, 3);
    Overwrite(502, 24);  // an XEvent
  }
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(Wait(4, 300, kProgram, 8));
  EXPECT_TRUE(Wait(1, 500, kProgram, 3));
  Overwrite(526, 6);  // the rest of the frame: its function has returned
  Wait(4, 300, kProgram, 8);
  Wait(4, 300, kProgram, 8);
  EXPECT_TRUE(Wait(4, 300, kProgram, 8));
}

TEST_F(LoopWaitsTest, FrameThatADispatchWroteOverCountsOnlyOnce) {
  EXPECT_TRUE(Wait(1, 500, kGlib, 3));
  Overwrite(500, 12);  // a leaf frame of the library, dead while it dispatches
  EXPECT_FALSE(Wait(4, 300, kProgram, 8));
  EXPECT_FALSE(Wait(4, 300, kProgram, 8));
  for (int i = 500; i < 512; ++i) stack_[i] -= 77;  // the library waits again, from the same frame
  EXPECT_TRUE(Wait(1, 500, kGlib, 3));
  Overwrite(500, 12);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(Wait(4, 300, kProgram, 8));
}

TEST_F(LoopWaitsTest, KnownLoopReplacesWhatMainPolledInItsOwnFrame) {
  for (int i = 0; i < 5; ++i) Wait(6, 500, kProgram, 5);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Wait(1, 400, kGlib, 3));
  EXPECT_TRUE(Wait(1, 400, kGlib, 3));
  EXPECT_STREQ(waits_.loop_name(), "glib");
}

TEST_F(LoopWaitsTest, ProgramsLoopSurvivesShortWaitsOfALibraryAndComesBackAfterLongOnes) {
  for (int i = 0; i < 5; ++i) Wait(6, 500, kProgram, 5);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(Wait(1, 400, kGlib, 9));
    EXPECT_TRUE(Wait(6, 500, kProgram, 5));
  }
  for (int i = 0; i < 10; ++i) Wait(1, 400, kGlib, 9);
  EXPECT_TRUE(Wait(6, 500, kProgram, 5));
  EXPECT_STREQ(waits_.loop_name(), "poll");
}

TEST_F(LoopWaitsTest, LibraryThatIsKnownLaterGivesItsName) {
  for (int i = 0; i < 3; ++i) Wait(1, 500, kProgram, 3);
  EXPECT_STREQ(waits_.loop_name(), "poll");
  EXPECT_TRUE(Wait(1, 500, kGlib, 3));
  EXPECT_STREQ(waits_.loop_name(), "glib");
}

TEST_F(LoopWaitsTest, EventsThatAProgramTakesAnywhereAreItsLoops) {
  for (size_t depth : {500, 480, 400, 500, 300}) {
    EXPECT_TRUE(Wait(6, depth, kProgram, -1, WaitFamily::kPump));
  }
  EXPECT_STREQ(waits_.loop_name(), "sdl");
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(Wait(4, 300, kProgram, 8));
  EXPECT_FALSE(Wait(1, 300, kGlib, 3));  // a dialog's own loop, in the frame of the program's
}

TEST_F(LoopWaitsTest, EventsTakenInACallbackArePartOfTheDispatch) {
  EXPECT_TRUE(Wait(1, 500, kGlib, 3));
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(Wait(6, 300, kProgram, -1, WaitFamily::kPump)) << i;
    EXPECT_TRUE(Wait(1, 500, kGlib, 3));
  }
  EXPECT_STREQ(waits_.loop_name(), "glib");
}

TEST_F(LoopWaitsTest, ProgramsOwnPollsBeforeItTakesEventsAreForgotten) {
  for (int i = 0; i < 5; ++i) Wait(7, 520, kProgram, 5);
  for (int i = 0; i < 10; ++i) Wait(6, 500, kProgram, -1, WaitFamily::kPump);
  EXPECT_TRUE(Wait(6, 500, kProgram, -1, WaitFamily::kPump));
  EXPECT_STREQ(waits_.loop_name(), "sdl");
}

}  // namespace
}  // namespace jankbox
