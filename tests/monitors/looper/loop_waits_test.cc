#include "monitors/looper/loop_waits.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "monitors/looper/function_start.h"
#include "monitors/looper/thread_wait.h"

namespace jankbox {
namespace {

constexpr LoopModule kProgram = {};
constexpr LoopModule kGlib = {LoopModuleKind::kLoop, "glib"};
constexpr LoopModule kXcb = {LoopModuleKind::kDisplay, ""};
constexpr LoopModule kReadline = {LoopModuleKind::kInput, "readline"};
constexpr LoopModule kNode = {LoopModuleKind::kOther, "libuv"};

using Fds = std::vector<int>;

// Two functions for call sites to be in; long enough, and never the same code.
__attribute__((noinline)) double LoopFunction(double x) {
  return std::sin(x) * std::cos(x + 1) + std::tan(x + 2) * std::exp(x + 3) + std::log(x + 4);
}
__attribute__((noinline)) double OtherFunction(double x) {
  return std::exp(x) * std::tan(x + 5) + std::log(x + 6) * std::sin(x + 7) + std::cos(x + 8);
}
const void* InLoopFunction(int offset) {
  return reinterpret_cast<const char*>(&LoopFunction) + offset;
}
const void* InOtherFunction(int offset) {
  return reinterpret_cast<const char*>(&OtherFunction) + offset;
}

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
    call.pump_name = "sdl";
    return waits_.DecideWait(call, module);
  }
  bool WaitFor(const void* call_site, size_t depth_word, LoopModule module, const Fds& fds,
               WaitFamily family = WaitFamily::kPoll, bool at_once = false) {
    return waits_.DecideWait({.call_site = call_site,
                              .stack = &stack_[depth_word],
                              .family = family,
                              .fd = fds.empty() ? -1 : fds[0],
                              .fds = fds.data(),
                              .fd_count = fds.size(),
                              .fd_stride = sizeof(int),
                              .returns_at_once = at_once},
                             module);
  }
  bool WaitFor(int call_site, size_t depth_word, LoopModule module, const Fds& fds) {
    return WaitFor(reinterpret_cast<const void*>(static_cast<uintptr_t>(0x1000 + call_site)),
                   depth_word, module, fds);
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

TEST_F(LoopWaitsTest, ReportsSayThatAProgramsLoopIsUnsureUntilItsSixteenthWait) {
  for (int wait = 0; wait < 18; ++wait) {
    Wait(1, 500, kProgram);
    const bool adopted = wait >= 2;
    EXPECT_STREQ(waits_.reported_name(), adopted ? "poll, unsure" : "") << wait;
  }
  Wait(1, 500, kProgram);
  EXPECT_STREQ(waits_.reported_name(), "poll");
}

TEST_F(LoopWaitsTest, LoopOfALibraryIsSureAtOnce) {
  Wait(1, 500, kNode, 9, WaitFamily::kEpoll);
  EXPECT_STREQ(waits_.reported_name(), "libuv");
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
  for (int i = 0; i < 20; ++i) {
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

TEST_F(LoopWaitsTest, CallsInOneFrameAreOneLoop) {
  for (int i = 0; i < 20; ++i) WaitFor(InLoopFunction(8), 500, kProgram, {3, 4});
  EXPECT_TRUE(WaitFor(InLoopFunction(16), 500, kProgram, {3, 4}));  // the compiler's second copy
  EXPECT_TRUE(WaitFor(InLoopFunction(24), 500, kProgram, {3, 4, 5}));
  EXPECT_TRUE(WaitFor(InLoopFunction(32), 500, kProgram, {}));    // it sleeps
  EXPECT_FALSE(WaitFor(InLoopFunction(40), 500, kProgram, {4}));  // a reply, inlined
  EXPECT_FALSE(WaitFor(InOtherFunction(8), 500, kProgram, {4}));
  EXPECT_FALSE(WaitFor(InOtherFunction(8), 500, kProgram, {}));
}

TEST_F(LoopWaitsTest, ProgramThatSleepsAtAnotherLineIsIdle) {
  for (int i = 0; i < 40; ++i) WaitFor(InLoopFunction(8), 500, kProgram, {});
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(WaitFor(InLoopFunction(60), 500, kProgram, {}));
}

TEST_F(LoopWaitsTest, LoopThatPollsFirstAndBlocksAtASecondCall) {
  for (int i = 0; i < 20; ++i) {
    WaitFor(InLoopFunction(8), 500, kProgram, {3}, WaitFamily::kPoll, /*at_once=*/true);
    EXPECT_EQ(WaitFor(InLoopFunction(16), 500, kProgram, {3}), i >= 2) << i;
  }
  EXPECT_TRUE(WaitFor(InLoopFunction(8), 500, kProgram, {3}, WaitFamily::kPoll, true));
}

TEST_F(LoopWaitsTest, NestedLoopOfAProgramWaitsForAllThatTheLoopWaitsFor) {
  for (int i = 0; i < 20; ++i) WaitFor(1, 500, kProgram, {0, 5});
  EXPECT_TRUE(WaitFor(2, 300, kProgram, {0, 5}));
  EXPECT_TRUE(WaitFor(2, 300, kProgram, {0, 5, 9}));
  EXPECT_FALSE(WaitFor(2, 300, kProgram, {5}));
  EXPECT_FALSE(WaitFor(2, 300, kProgram, {9}));
}

TEST_F(LoopWaitsTest, ProgramThatWaitsForAllOfItsLibrarysLoopIsIdle) {
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(WaitFor(1, 500, kGlib, {3, 7}));
  EXPECT_TRUE(WaitFor(2, 300, kProgram, {3, 5, 7, 9}));
  EXPECT_FALSE(WaitFor(2, 300, kProgram, {7})) << "an answer of one peer";
  EXPECT_TRUE(WaitFor(1, 500, kGlib, {3, 7, 8}));
  EXPECT_TRUE(WaitFor(4, 200, kProgram, {3, 7})) << "not what it waits for at times";
}

TEST_F(LoopWaitsTest, WhatALoopDoesNotAlwaysWaitForDoesNotMakeItsNestedRun) {
  for (int i = 0; i < 20; ++i) WaitFor(1, 500, kProgram, i % 2 == 0 ? Fds{0, 5} : Fds{0, 7});
  EXPECT_TRUE(WaitFor(2, 300, kProgram, {0, 8}));
  EXPECT_FALSE(WaitFor(2, 300, kProgram, {5, 7}));
}

TEST_F(LoopWaitsTest, NoWaitOfAProgramIsAStallBeforeItsLoopIsSure) {
  for (int i = 0; i < 3; ++i) WaitFor(1, 500, kProgram, {3});
  for (int i = 0; i < 15; ++i) {
    EXPECT_TRUE(WaitFor(2, 300, kProgram, {8})) << i;
    EXPECT_TRUE(WaitFor(1, 500, kProgram, {3})) << i;
  }
  EXPECT_TRUE(WaitFor(1, 500, kProgram, {3}));
  EXPECT_FALSE(WaitFor(2, 300, kProgram, {8}));
  EXPECT_FALSE(WaitFor(3, 300, kXcb, {8}));
}

TEST_F(LoopWaitsTest, NothingIsSureOnceTheFrameOfTheLoopIsGone) {
  for (int i = 0; i < 20; ++i) WaitFor(1, 500, kProgram, {3});
  EXPECT_FALSE(WaitFor(2, 300, kProgram, {8}));
  Overwrite(500, 12);
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(WaitFor(2, 300, kProgram, {8})) << i;
  EXPECT_FALSE(WaitFor(3, 200, kProgram, {9})) << "the other loop is sure by now";
}

TEST_F(LoopWaitsTest, LibraryInsideTheProgramIsSureAtOnce) {
  EXPECT_TRUE(Wait(1, 500, kNode, 13, WaitFamily::kEpoll));
  EXPECT_FALSE(Wait(1, 300, kNode, 17, WaitFamily::kEpoll)) << "execSync() runs a loop of its own";
  EXPECT_TRUE(Wait(1, 500, kNode, 13, WaitFamily::kEpoll));
}

TEST_F(LoopWaitsTest, WaitsForTheUserAreIdleWhereverTheyAre) {
  for (int i = 0; i < 20; ++i) WaitFor(1, 500, kProgram, {0, 5});
  EXPECT_TRUE(WaitFor(2, 300, kReadline, {0}));
  EXPECT_TRUE(WaitFor(1, 500, kProgram, {0, 5}));
  EXPECT_STREQ(waits_.loop_name(), "poll");
}

TEST_F(LoopWaitsTest, SleepInTheFrameThatTakesTheEventsIsThePaceOfItsLoop) {
  EXPECT_TRUE(Wait(6, 500, kProgram, -1, WaitFamily::kPump));
  EXPECT_TRUE(Wait(7, 500, kProgram, -1, WaitFamily::kSelect));
  EXPECT_FALSE(Wait(8, 300, kProgram, 5));
  EXPECT_TRUE(Wait(6, 500, kProgram, -1, WaitFamily::kPump));
}

TEST_F(LoopWaitsTest, WaitsForTheTerminalAreIdleWhereverTheyAre) {
  for (int i = 0; i < 20; ++i) WaitFor(1, 500, kProgram, {0, 5});
  EXPECT_FALSE(WaitFor(2, 300, kProgram, {0}));  // standard input is no terminal
  LoopWaits::SetTerminals(1);
  EXPECT_TRUE(WaitFor(3, 300, kProgram, {0}));
  EXPECT_FALSE(WaitFor(3, 300, kProgram, {5}));
  EXPECT_TRUE(Wait(4, 200, kProgram, 0, WaitFamily::kRead));
  EXPECT_FALSE(Wait(5, 200, kProgram, 5, WaitFamily::kEpoll));
  EXPECT_TRUE(WaitFor(1, 500, kProgram, {0, 5}));
  LoopWaits::SetTerminals(0);
}

TEST_F(LoopWaitsTest, OneDescriptorIsNotAnotherWithTheSameBit) {
  constexpr LoopModule kUv = {LoopModuleKind::kLoop, "libuv"};
  EXPECT_TRUE(Wait(1, 500, kUv, 3, WaitFamily::kEpoll));
  EXPECT_FALSE(Wait(2, 300, kProgram, 3 + 64));
  EXPECT_TRUE(Wait(2, 300, kProgram, 3));
}

TEST_F(LoopWaitsTest, ReadsOfTheTerminalMakeNoLoopButInALibraryOfInput) {
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(Wait(1, 500, kProgram, 0, WaitFamily::kRead));
  EXPECT_STREQ(waits_.loop_name(), "");
  EXPECT_TRUE(Wait(1, 500, kReadline, 0, WaitFamily::kRead));
  EXPECT_STREQ(waits_.loop_name(), "readline");
}

TEST_F(LoopWaitsTest, LoopOfALibraryThatWaitsForTheUserHasItsName) {
  EXPECT_TRUE(WaitFor(2, 300, kReadline, {0}));
  EXPECT_STREQ(waits_.loop_name(), "readline");
}

TEST(WaitCallTest, CountThatNoListHasIsNotBelieved) {
  pollfd one = {3, POLLIN, 0};
  const WaitCall call = JANKBOX_POLL_CALL(&one, nfds_t{1} << 30, false);
  DescriptorSet three;
  three.Add(3);
  EXPECT_TRUE(three.Contains(call.Descriptors()));
  EXPECT_TRUE(call.Descriptors().Contains(three));
}

TEST(DescriptorSetTest, SetsOfSelectCountOnlyUpToTheirEnd) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(3, &set);
  FD_SET(70, &set);
  DescriptorSet three, six, both;
  three.Add(3);
  six.Add(70);
  both.AddAll(&set, 71);
  EXPECT_TRUE(both.Contains(three));
  EXPECT_TRUE(both.Contains(six));
  EXPECT_FALSE(three.Contains(both));
  DescriptorSet cut;
  cut.AddAll(&set, 70);
  EXPECT_FALSE(cut.Contains(six));
  EXPECT_TRUE(both.Common(three).Contains(three));
  EXPECT_FALSE(both.Common(three).Contains(six));
  cut.AddAll(nullptr, 64);
  DescriptorSet none;
  none.Add(-1);
  EXPECT_TRUE(none.empty());
}

TEST(FunctionStartTest, CallSitesOfOneFunctionHaveOneStart) {
  const char* loop = reinterpret_cast<const char*>(&LoopFunction);
  EXPECT_EQ(FunctionStart(loop + 1), loop);
  EXPECT_EQ(FunctionStart(loop + 60), loop);
  EXPECT_NE(FunctionStart(reinterpret_cast<const char*>(&OtherFunction) + 8), loop);
  EXPECT_EQ(FunctionStart(reinterpret_cast<const void*>(uintptr_t{16})), nullptr);
  EXPECT_NE(FunctionStart(reinterpret_cast<const char*>(dlsym(RTLD_DEFAULT, "qsort")) + 4),
            nullptr);
}

TEST_F(LoopWaitsTest, LibraryThatIsKnownLaterGivesItsName) {
  for (int i = 0; i < 3; ++i) Wait(1, 500, kProgram, 3);
  EXPECT_STREQ(waits_.loop_name(), "poll");
  EXPECT_TRUE(Wait(1, 500, kGlib, 3));
  EXPECT_STREQ(waits_.loop_name(), "glib");
}

// Of a program that has loaded libxcb since the last poll at its modules.
class LateMemory final : public LoopMemory {
 public:
  bool ReadStack(const void*, std::span<uintptr_t> words) const override {
    std::fill(words.begin(), words.end(), 0);
    return true;
  }
  const void* StartOfFunction(const void* address) const override { return address; }
  LoopModule FindModule(const void*) const override { return is_known ? kXcb : kProgram; }

  bool is_known = false;
};

TEST(LateModulesTest, WaitForAReplyIsNoLoopOnceItsLibraryIsKnown) {
  LateMemory memory;
  LoopWaits waits(&memory);
  const int fd = 3;
  const auto wait = [&](uintptr_t site, uintptr_t stack, LoopModule module) {
    return waits.DecideWait({.call_site = reinterpret_cast<const void*>(site),
                             .stack = reinterpret_cast<const void*>(stack),
                             .fd = fd,
                             .fds = &fd,
                             .fd_count = 1,
                             .fd_stride = sizeof(fd)},
                            module);
  };
  for (int i = 0; i < 3; ++i) wait(0x1000, 0x7000, kProgram);
  ASSERT_STREQ(waits.loop_name(), "poll");
  memory.is_known = true;
  EXPECT_TRUE(wait(0x2000, 0x6000, kGlib));
  EXPECT_STREQ(waits.loop_name(), "glib");
  EXPECT_FALSE(wait(0x1000, 0x7000, kXcb));
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
