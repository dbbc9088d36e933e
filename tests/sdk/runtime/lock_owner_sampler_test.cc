#include "sdk/runtime/lock_owner_sampler.h"

#include <gmock/gmock.h>

#include "base/clock.h"
#include "tests/fakes/fake_thread_source.h"
#include "tests/fakes/fake_window.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int32_t kOwner = 77;
constexpr uint64_t kMs = kNsPerMs;

class LockOwnerSamplerTest : public testing::Test {
 protected:
  void Look(int32_t owner_tid, uint64_t now_ms) {
    sampler_.Look(owner_tid, now_ms * kMs,
                  [this](const StackSample& sample) { tids_.push_back(sample.tid); });
  }
  FakeSamplerState& State(int32_t tid) { return *state_.sampler_of.at(tid); }

  FakeThreadState state_;
  FakeThreadSource source_{&state_};
  LockOwnerSampler sampler_{StackSampler::Mode::kAuto, &source_};
  std::vector<int32_t> tids_;
};

TEST_F(LockOwnerSamplerTest, NobodyIsSampledWhileNobodyIsWaitedFor) {
  Look(0, 100);
  Look(0, 200);
  EXPECT_THAT(state_.sampler_of, IsEmpty());
}

TEST_F(LockOwnerSamplerTest, OwnerIsSampledAtOnceAndThenEveryTwentyMilliseconds) {
  Look(kOwner, 100);
  EXPECT_EQ(State(kOwner).starts, 1u);
  EXPECT_EQ(State(kOwner).options.interval_ms, LockOwnerSampler::kIntervalMs);
  EXPECT_EQ(State(kOwner).collects, 1u);
  for (uint64_t ms = 101; ms < 120; ++ms) Look(kOwner, ms);
  EXPECT_EQ(State(kOwner).collects, 1u);
  Look(kOwner, 120);
  EXPECT_EQ(State(kOwner).collects, 2u);
  Look(kOwner, 200);
  EXPECT_EQ(State(kOwner).collects, 3u) << "late looks are not made up for";
  Look(kOwner, 219);
  EXPECT_EQ(State(kOwner).collects, 3u);
}

TEST_F(LockOwnerSamplerTest, SamplesArePassedOn) {
  Look(kOwner, 100);
  State(kOwner).next = {FakeSample(kOwner, {1}), FakeSample(kOwner, {2})};
  Look(kOwner, 120);
  EXPECT_THAT(tids_, ElementsAre(kOwner, kOwner));
}

TEST_F(LockOwnerSamplerTest, NextOwnerIsSampledAtOnce) {
  Look(kOwner, 100);
  Look(88, 105);
  EXPECT_EQ(State(88).collects, 1u);
  EXPECT_EQ(State(kOwner).collects, 1u);
}

TEST_F(LockOwnerSamplerTest, OwnerWhoComesBackIsANewStretch) {
  Look(kOwner, 100);
  Look(0, 105);
  Look(kOwner, 106);
  EXPECT_EQ(State(kOwner).starts, 1u) << "a new sampler";
  EXPECT_EQ(State(kOwner).collects, 1u);
}

TEST_F(LockOwnerSamplerTest, OwnerThatCannotBeSampledIsAskedForOnce) {
  state_.samplers = false;
  Look(kOwner, 100);
  state_.samplers = true;
  Look(kOwner, 200);
  EXPECT_THAT(state_.sampler_of, IsEmpty());
}

// A signal would end the owner's wait, and it is not the thread that the app asked to watch.
TEST(LockOwnerSamplerMode, NeverUsesASignal) {
  using Mode = StackSampler::Mode;
  const std::pair<Mode, Mode> modes[] = {{Mode::kAuto, Mode::kNoSignal},
                                         {Mode::kPerfOnly, Mode::kNoSignal},
                                         {Mode::kProcOnly, Mode::kProcOnly},
                                         {Mode::kSignalOnly, Mode::kProcOnly},
                                         {Mode::kNoSignal, Mode::kProcOnly}};
  for (const auto& [watched, owner] : modes) {
    FakeThreadState state;
    FakeThreadSource source(&state);
    LockOwnerSampler sampler(watched, &source);
    sampler.Look(kOwner, 1, [](const StackSample&) {});
    EXPECT_EQ(state.sampler_of.at(kOwner)->options.mode, owner) << static_cast<int>(watched);
  }
}

}  // namespace
}  // namespace jankbox
