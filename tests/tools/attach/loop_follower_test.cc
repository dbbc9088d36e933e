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

// Words that nobody changes.
class StillMemory final : public LoopMemory {
 public:
  bool ReadStack(const void*, std::span<uintptr_t> words) const override {
    std::fill(words.begin(), words.end(), 0);
    return true;
  }
  const void* StartOfFunction(const void*) const override { return nullptr; }
  LoopModule FindModule(const void*) const override { return {}; }
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
    follower_.OnCall(ms * kMs,
                     {.call_site = reinterpret_cast<const void*>(site),
                      .stack = &stack_[stack],
                      .family = WaitFamily::kPoll,
                      .fd = fd},
                     module);
  }
  void Block(uint64_t from_ms, uint64_t to_ms) {
    (void)from_ms;
    follower_.OnSwitchOut(/*preempted=*/false);
    follower_.OnSwitchIn(to_ms * kMs);
  }

  std::array<uintptr_t, 1024> stack_{};
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
