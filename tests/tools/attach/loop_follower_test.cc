#include "tools/attach/loop_follower.h"

#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

namespace jankbox::tools {
namespace {

using testing::ElementsAre;

constexpr uint64_t kMs = kNsPerMs;
constexpr LoopModule kGlib = {LoopModuleKind::kLoop, "glib"};
constexpr LoopModule kXcb = {LoopModuleKind::kDisplay, ""};

constexpr LoopModule kWayland = {LoopModuleKind::kMixed, ""};

// The words of a stack that is at no address of this process. Functions have 4096 bytes each, and
// those of libwayland are between kWaylandCode and twice that.
class StillMemory final : public LoopMemory {
 public:
  static constexpr uintptr_t kStack = 0x100;  // not mapped, as no program has its first page
  static constexpr uintptr_t kWaylandCode = 0x100000;

  bool ReadStack(const void* at, std::span<uintptr_t> words) const override {
    const size_t first = (reinterpret_cast<uintptr_t>(at) - kStack) / sizeof(uintptr_t);
    if (first + words.size() > stack.size()) return false;
    std::copy_n(stack.begin() + static_cast<ptrdiff_t>(first), words.size(), words.begin());
    return true;
  }
  const void* StartOfFunction(const void* address) const override {
    return reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(address) / 4096 * 4096);
  }
  LoopModule FindModule(const void* address) const override {
    const auto at = reinterpret_cast<uintptr_t>(address);
    return at >= kWaylandCode && at < 2 * kWaylandCode ? kWayland : LoopModule{};
  }

  std::array<uintptr_t, 1024> stack{};
};

class Dispatches final : public DispatchSink {
 public:
  void OnBegin(uint64_t ns) override { Add("begin ", ns); }
  void OnEnd(uint64_t ns) override { Add("end ", ns); }
  void OnForget(uint64_t ns) override { Add("forget ", ns); }
  std::vector<std::string> all;

 private:
  void Add(const char* what, uint64_t ns) { all.push_back(what + std::to_string(ns / kMs)); }
};

class LoopFollowerTest : public testing::Test {
 protected:
  // The loop waits for descriptor 5.
  void LoopCall(uint64_t ms) { Call(ms, 0x1000, 600, kGlib, 5); }
  void Call(uint64_t ms, uintptr_t site, size_t stack, LoopModule module, int fd) {
    follower_.OnCall(
        ms * kMs,
        {.call_site = reinterpret_cast<const void*>(site),
         .stack = reinterpret_cast<const void*>(StillMemory::kStack + stack * sizeof(uintptr_t)),
         .family = WaitFamily::kPoll,
         .fd = fd},
        module);
  }
  void Block(uint64_t from_ms, uint64_t to_ms) {
    (void)from_ms;
    follower_.OnSwitchOut(/*preempted=*/false);
    follower_.OnSwitchIn(to_ms * kMs);
  }

  StillMemory memory_;
  Dispatches dispatches_;
  LoopFollower follower_{&memory_, &dispatches_};
};

TEST_F(LoopFollowerTest, TimeBetweenReturnAndNextWaitIsOneDispatch) {
  LoopCall(10);
  Block(10, 50);
  follower_.OnReturn(50 * kMs);
  LoopCall(53);
  follower_.OnReturn(54 * kMs);
  LoopCall(60);
  EXPECT_THAT(dispatches_.all, ElementsAre("begin 50", "end 53", "begin 54", "end 60"));
  EXPECT_STREQ(follower_.loop_name(), "glib");
}

TEST_F(LoopFollowerTest, WaitForAReplyIsPartOfTheDispatch) {
  LoopCall(10);
  follower_.OnReturn(20 * kMs);
  Call(25, 0x2000, 300, kXcb, 3);
  Block(25, 90);
  LoopCall(100);
  EXPECT_THAT(dispatches_.all, ElementsAre("begin 20", "end 100"));
}

// wl_display_dispatch() and wl_display_roundtrip() wait at one call site of the library.
TEST_F(LoopFollowerTest, RoundtripOfWaylandIsPartOfTheDispatch) {
  constexpr uintptr_t kWaits = StillMemory::kWaylandCode + 0x10;
  memory_.stack[604] = StillMemory::kWaylandCode + 0x1020;  // wl_display_dispatch()
  memory_.stack[304] = StillMemory::kWaylandCode + 0x2020;  // wl_display_roundtrip()
  memory_.stack[204] = StillMemory::kWaylandCode + 0x1020;
  for (uint64_t ms = 10; ms <= 300; ms += 10) {  // until the loop is sure
    Call(ms, kWaits, 600, kWayland, 5);
    follower_.OnReturn((ms + 5) * kMs);
  }
  dispatches_.all.clear();
  Call(310, kWaits, 300, kWayland, 5);
  EXPECT_TRUE(follower_.running());
  Call(340, kWaits, 200, kWayland, 5);  // a nested run of the loop
  EXPECT_TRUE(follower_.waiting());
  EXPECT_THAT(dispatches_.all, ElementsAre("end 340"));
}

TEST_F(LoopFollowerTest, StackThatCannotBeReadIsNotRead) {
  Call(10, StillMemory::kWaylandCode + 0x10, 1000, kWayland, 5);
  for (uint64_t ms = 20; ms < 60; ms += 10) {
    Call(ms, StillMemory::kWaylandCode + 0x10, 1000, kWayland, 5);
    Call(ms + 5, StillMemory::kWaylandCode + 0x10, 999, kWayland, 5);
  }
  EXPECT_TRUE(follower_.waiting());
}

TEST_F(LoopFollowerTest, WaitWhoseReturnIsNotSeenReturnsWhenTheThreadIsBack) {
  LoopCall(10);
  Block(10, 50);
  LoopCall(57);
  EXPECT_THAT(dispatches_.all, ElementsAre("begin 50", "end 57"));
}

TEST_F(LoopFollowerTest, DispatchThatBlocksBeginsWhenTheThreadIsBackFirst) {
  LoopCall(10);
  Block(10, 50);
  Block(51, 90);
  LoopCall(95);
  EXPECT_THAT(dispatches_.all, ElementsAre("begin 50", "end 95"));
}

TEST_F(LoopFollowerTest, UnseenReturnIsAskedForAndBelieved) {
  LoopCall(10);
  EXPECT_FALSE(follower_.IsDoubtful(12 * kMs));
  EXPECT_TRUE(follower_.IsDoubtful(30 * kMs));  // it never left its CPU: it cannot wait
  follower_.OnAnswer(30 * kMs, /*waits=*/false);
  EXPECT_TRUE(follower_.running());
  EXPECT_THAT(dispatches_.all, ElementsAre("begin 10"));
}

TEST_F(LoopFollowerTest, ThreadThatIsWokenForNothingStillWaits) {
  LoopCall(10);
  follower_.OnSwitchOut(false);
  EXPECT_FALSE(follower_.IsDoubtful(1000 * kMs));
  follower_.OnSwitchIn(1000 * kMs);
  follower_.OnSwitchOut(false);
  EXPECT_TRUE(follower_.IsDoubtful(1010 * kMs));
  follower_.OnAnswer(1010 * kMs, /*waits=*/true);
  EXPECT_FALSE(follower_.IsDoubtful(9000 * kMs));
  EXPECT_THAT(dispatches_.all, ElementsAre());
}

TEST_F(LoopFollowerTest, DispatchThatWasInferredIsForgottenIfTheThreadWaits) {
  LoopCall(10);
  Block(10, 50);
  follower_.OnAnswer(60 * kMs, /*waits=*/false);
  EXPECT_TRUE(follower_.IsDoubtful(90 * kMs));
  follower_.OnAnswer(90 * kMs, /*waits=*/true);
  EXPECT_THAT(dispatches_.all, ElementsAre("begin 50", "forget 90"));
  EXPECT_TRUE(follower_.waiting());
}

TEST_F(LoopFollowerTest, DispatchWhoseStartWasSeenIsNotAskedAbout) {
  LoopCall(10);
  follower_.OnReturn(50 * kMs);
  EXPECT_FALSE(follower_.IsDoubtful(5000 * kMs));
}

TEST_F(LoopFollowerTest, PreemptedWaitHasNotBlocked) {
  LoopCall(10);
  follower_.OnSwitchOut(/*preempted=*/true);
  follower_.OnSwitchIn(40 * kMs);
  LoopCall(45);
  EXPECT_THAT(dispatches_.all, ElementsAre("begin 10", "end 45"));
}

TEST_F(LoopFollowerTest, BlockThatNobodyExplainsAccusesNobody) {
  LoopCall(10);
  follower_.OnReturn(20 * kMs);
  follower_.OnUnknownBlock(30 * kMs);
  EXPECT_FALSE(follower_.running());
  follower_.OnReturn(900 * kMs);
  EXPECT_THAT(dispatches_.all, ElementsAre("begin 20", "end 30", "begin 900"));
}

TEST_F(LoopFollowerTest, LossForgetsWhatRunsUntilTheNextWait) {
  LoopCall(10);
  follower_.OnReturn(20 * kMs);
  follower_.OnLoss(40 * kMs);
  follower_.OnReturn(50 * kMs);
  LoopCall(60);
  follower_.OnReturn(70 * kMs);
  EXPECT_THAT(dispatches_.all, ElementsAre("begin 20", "forget 40", "begin 70"));
}

TEST_F(LoopFollowerTest, BlockInTheLoopsPlaceIsItsWaitAfterALossToo) {
  LoopCall(10);
  follower_.OnReturn(20 * kMs);
  follower_.OnLoopBlock(30 * kMs);
  follower_.OnReturn(40 * kMs);
  follower_.OnLoss(50 * kMs);
  follower_.OnLoopBlock(60 * kMs);
  follower_.OnReturn(70 * kMs);
  EXPECT_THAT(dispatches_.all,
              ElementsAre("begin 20", "end 30", "begin 40", "forget 50", "begin 70"));
}

TEST_F(LoopFollowerTest, ReadOfTheTerminalIsNoPartOfTheDispatch) {
  LoopCall(10);
  follower_.OnReturn(20 * kMs);
  follower_.OnCall(30 * kMs, {.family = WaitFamily::kRead, .fd = 0}, {});
  EXPECT_TRUE(follower_.waiting());
  Block(30, 900);
  LoopCall(905);
  EXPECT_THAT(dispatches_.all, ElementsAre("begin 20", "end 30", "begin 900", "end 905"));
}

TEST_F(LoopFollowerTest, NothingAfterTheExitIsADispatch) {
  LoopCall(10);
  follower_.OnReturn(20 * kMs);
  follower_.OnExit(25 * kMs);
  LoopCall(60);
  follower_.OnReturn(70 * kMs);
  follower_.OnLoss(80 * kMs);
  LoopCall(90);
  EXPECT_THAT(dispatches_.all, ElementsAre("begin 20", "forget 25"));
}

}  // namespace
}  // namespace jankbox::tools
