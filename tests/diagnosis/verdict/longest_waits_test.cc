#include "diagnosis/verdict/longest_waits.h"

#include <gmock/gmock.h>

#include "tests/fakes/fake_window.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int32_t kUi = 7;
constexpr int32_t kOwner = 42;
constexpr uint64_t kMs = kNsPerMs;

class LongestWaitsTest : public testing::Test {
 protected:
  LongestWaitsTest() {
    window_.to_ticks = 1000 * kMs;
    window_.threads.reserve(3);
    ui_.emplace(AddThread(&window_, kUi, "main"));
  }
  void Wait(WaitClass what, uint64_t from_ms, uint64_t to_ms, int32_t owner_tid = 0) {
    ui_->Wait({.what = what, .owner_tid = owner_tid}, from_ms * kMs);
    ui_->Wait({.what = what, .end = true}, to_ms * kMs);
  }
  std::vector<std::string> Notes(uint64_t from_ms = 0, uint64_t to_ms = 1000, double scale = 1.0) {
    const ThreadLives lives(window_, {{kOwner, "worker"}});
    return LongestWaits(window_, lives, kUi, from_ms * kMs, to_ms * kMs, ScaledClock(scale));
  }

  RingWindow window_;
  std::optional<FakeThread> ui_;
};

TEST_F(LongestWaitsTest, NoWaitIsNoNote) { EXPECT_THAT(Notes(), IsEmpty()); }

TEST_F(LongestWaitsTest, LockIsNamedWithItsOwner) {
  Wait(WaitClass::kMutex, 100, 161, kOwner);
  EXPECT_THAT(Notes(), ElementsAre("lock contention on a mutex (owner worker [42]): 61 ms."));
}

TEST_F(LongestWaitsTest, WaitsForTheSameAreAddedUp) {
  Wait(WaitClass::kMutex, 100, 110, kOwner);
  Wait(WaitClass::kCondition, 200, 215);
  Wait(WaitClass::kMutex, 300, 310, kOwner);
  const std::vector<std::string> notes = Notes();
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0], "lock contention on a mutex (owner worker [42]): 20 ms.");
  EXPECT_NE(notes[1].find(": 15 ms."), std::string::npos);
}

TEST_F(LongestWaitsTest, TheThreeLongestAreTold) {
  Wait(WaitClass::kMutex, 100, 110);
  Wait(WaitClass::kSemaphore, 200, 240);
  Wait(WaitClass::kCondition, 300, 330);
  Wait(WaitClass::kJoin, 400, 420);
  const std::vector<std::string> notes = Notes();
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_NE(notes[0].find(": 40 ms."), std::string::npos);
  EXPECT_NE(notes[1].find(": 30 ms."), std::string::npos);
  EXPECT_NE(notes[2].find(": 20 ms."), std::string::npos);
}

TEST_F(LongestWaitsTest, LessThanAMillisecondIsLeftOut) {
  ui_->Wait({.what = WaitClass::kMutex}, 100 * kMs);
  ui_->Wait({.what = WaitClass::kMutex, .end = true}, 101 * kMs - 1);
  EXPECT_THAT(Notes(), IsEmpty());
}

TEST_F(LongestWaitsTest, FileCallsAreNotForAnotherThread) {
  Wait(WaitClass::kFsync, 100, 900);
  EXPECT_THAT(Notes(), IsEmpty());
}

TEST_F(LongestWaitsTest, OnlyTheIncidentsPartOfAWaitCounts) {
  Wait(WaitClass::kMutex, 100, 400);
  EXPECT_THAT(Notes(250, 300), ElementsAre("lock contention on a mutex: 50 ms."));
  EXPECT_THAT(Notes(350, 900), ElementsAre("lock contention on a mutex: 50 ms."));
  EXPECT_THAT(Notes(400, 900), IsEmpty());
  EXPECT_THAT(Notes(0, 100), IsEmpty());
}

TEST_F(LongestWaitsTest, WaitThatNeverEndedLastsToTheEndOfTheIncident) {
  ui_->Wait({.what = WaitClass::kMutex}, 900 * kMs);
  EXPECT_THAT(Notes(), ElementsAre("lock contention on a mutex: 100 ms."));
  EXPECT_THAT(Notes(0, 950), ElementsAre("lock contention on a mutex: 50 ms."));
}

TEST_F(LongestWaitsTest, OfAGapNothingIsKnown) {
  ui_->Wait({.what = WaitClass::kMutex}, 100 * kMs);
  ui_->NewChunk(500 * kMs, true);  // its end is among what was lost
  Wait(WaitClass::kMutex, 600, 610);
  EXPECT_THAT(Notes(), ElementsAre("lock contention on a mutex: 10 ms."));
}

TEST_F(LongestWaitsTest, EndWithoutABeginIsPassedOver) {
  ui_->Wait({.what = WaitClass::kMutex, .end = true}, 100 * kMs);
  Wait(WaitClass::kMutex, 200, 205);
  EXPECT_THAT(Notes(), ElementsAre("lock contention on a mutex: 5 ms."));
}

TEST_F(LongestWaitsTest, OtherThreadsWaitsAreTheirs) {
  AddThread(&window_, 8, "other")
      .Wait({.what = WaitClass::kMutex}, 100 * kMs)
      .Wait({.what = WaitClass::kMutex, .end = true}, 900 * kMs);
  EXPECT_THAT(Notes(), IsEmpty());
}

TEST_F(LongestWaitsTest, TicksBecomeMilliseconds) {
  Wait(WaitClass::kMutex, 100, 200);
  EXPECT_THAT(Notes(0, 1000, 0.25), ElementsAre("lock contention on a mutex: 25 ms."));
}

}  // namespace
}  // namespace jankbox
