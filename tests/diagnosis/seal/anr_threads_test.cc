// All threads at an ANR: who is listed, in which order, with which stack, and what of it the ring
// and the report say.
#include "diagnosis/seal/anr_threads.h"

#include <gmock/gmock.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>

#include "tests/fakes/fake_process.h"
#include "tests/fakes/fake_window.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int32_t kUi = 100;
constexpr uint64_t kMs = kNsPerMs;

std::vector<int32_t> Tids(const AnrThreads& taken) {
  std::vector<int32_t> tids;
  for (const AnrThread& thread : taken.threads) tids.push_back(thread.told.tid);
  return tids;
}

TEST(AnrThreads, ThreadThatDoesNotRespondComesFirst) {
  FakeProcess process;
  process.Add(90, "a");
  process.Add(95, "b");
  process.Add(kUi, "main");
  process.Add(110, "c");
  const AnrThreads taken = TakeAnrThreads(kUi, 200 * kMs, &process);
  EXPECT_THAT(Tids(taken), ElementsAre(kUi, 90, 95, 110));
  EXPECT_THAT(process.asked, ElementsAre(kUi, 90, 95, 110)) << "and its stack is taken first";
  EXPECT_THAT(taken.deadlocks, IsEmpty());
  EXPECT_EQ(taken.left_out, 0u);
  EXPECT_EQ(taken.not_listed, 0u);
}

TEST(AnrThreads, WhomItWaitsForComesNextAndThenWhomThatWaitsFor) {
  FakeProcess process;
  process.Add(90, "idle");
  process.Add(kUi, "main", SYS_futex, 120);
  process.Add(110, "last", SYS_read);
  process.Add(120, "middle", SYS_futex, 110);
  const AnrThreads taken = TakeAnrThreads(kUi, 200 * kMs, &process);
  EXPECT_THAT(Tids(taken), ElementsAre(kUi, 120, 110, 90));
  EXPECT_EQ(taken.threads[0].told.waits_for_tid, 120);
  EXPECT_EQ(taken.threads[1].told.waits_for_tid, 110);
  EXPECT_EQ(taken.threads[2].told.waits_for_tid, 0);
}

TEST(AnrThreads, DeadlockIsNamedAndItsThreadsMarked) {
  FakeProcess process;
  process.Add(80, "bystander");
  process.Add(kUi, "main", SYS_futex, 120);
  process.Add(120, "worker", SYS_futex, kUi);
  process.Add(130, "waits for the two", SYS_futex, 120);
  const AnrThreads taken = TakeAnrThreads(kUi, 200 * kMs, &process);
  EXPECT_THAT(taken.deadlocks,
              ElementsAre("deadlock: thread main (100) holds a lock that thread worker (120) "
                          "waits for, and vice versa"));
  EXPECT_THAT(Tids(taken), ElementsAre(kUi, 120, 80, 130));
  EXPECT_TRUE(taken.threads[0].told.deadlocked);
  EXPECT_TRUE(taken.threads[1].told.deadlocked);
  EXPECT_FALSE(taken.threads[2].told.deadlocked);
  EXPECT_FALSE(taken.threads[3].told.deadlocked) << "it waits for one, and is in none";
}

TEST(AnrThreads, DeadlockOfOthersIsTakenBeforeTheRest) {
  FakeProcess process;
  process.Add(kUi, "main", SYS_read);
  process.Add(110, "a");
  process.Add(120, "b", SYS_futex, 130);
  process.Add(130, "c", SYS_futex, 120);
  EXPECT_THAT(Tids(TakeAnrThreads(kUi, 200 * kMs, &process)), ElementsAre(kUi, 120, 130, 110));
}

TEST(AnrThreads, JankboxsOwnThreadsAreNotTheApps) {
  FakeProcess process;
  process.Add(kUi, "main");
  process.Add(101, "jankbox-watch");
  process.Add(102, "jankbox-seal");
  process.Add(103, "jankboxer");
  EXPECT_THAT(Tids(TakeAnrThreads(kUi, 200 * kMs, &process)), ElementsAre(kUi, 103));
}

TEST(AnrThreads, ThreadThatRunsHasNoStackAndIsCounted) {
  FakeProcess process;
  process.Add(kUi, "main");
  process.Add(110, "runs");
  process.Add(120, "waits");
  process.running = {110};
  const AnrThreads taken = TakeAnrThreads(kUi, 200 * kMs, &process);
  ASSERT_THAT(taken.threads, SizeIs(3));
  EXPECT_EQ(taken.threads[0].stack, 0u);
  EXPECT_EQ(taken.threads[1].stack, SIZE_MAX);
  EXPECT_EQ(taken.threads[2].stack, 1u);
  ASSERT_THAT(taken.stacks, SizeIs(2));
  EXPECT_EQ(taken.stacks[1].tid, 120);
  EXPECT_EQ(taken.left_out, 1u);
}

TEST(AnrThreads, NoStackIsTakenAfterTheBound) {
  FakeProcess process;
  for (int32_t tid = kUi; tid < kUi + 10; ++tid) process.Add(tid, "t");
  process.stack_ns = 60 * kMs;
  const AnrThreads taken = TakeAnrThreads(kUi, 200 * kMs, &process);
  EXPECT_THAT(process.asked, SizeIs(4)) << "the fourth began at 180 ms";
  EXPECT_THAT(taken.stacks, SizeIs(4));
  EXPECT_THAT(taken.threads, SizeIs(10)) << "all are listed all the same";
  EXPECT_EQ(taken.left_out, 6u);
}

TEST(AnrThreads, StacksAndListAreBounded) {
  FakeProcess process;
  for (int32_t tid = 1; tid <= 300; ++tid) process.Add(tid, "t");
  const AnrThreads taken = TakeAnrThreads(1, 200 * kMs, &process);
  EXPECT_THAT(taken.threads, SizeIs(256));
  EXPECT_EQ(taken.not_listed, 44u);
  EXPECT_THAT(taken.stacks, SizeIs(64));
  EXPECT_EQ(taken.left_out, 256u - 64u);
}

TEST(AnrThreads, ThreadThatIsGoneMeanwhileIsNoReasonToStop) {
  FakeProcess process;
  process.Add(110, "a");
  EXPECT_THAT(Tids(TakeAnrThreads(kUi, 200 * kMs, &process)), ElementsAre(110));
}

TEST(AnrThreads, WaitIsNamedByTheSystemCall) {
  FakeProcess process;
  process.Add(1, "running").call.running = true;
  process.Add(2, "runnable", SYS_read).state = 'R';
  ThreadLook& lock = process.Add(3, "lock", SYS_futex);
  lock.call.second_argument = FUTEX_WAIT_PRIVATE;
  process.Add(4, "sleeping", SYS_clock_nanosleep);
  process.Add(5, "other", SYS_wait4);
  process.Add(6, "disk", SYS_fsync).state = 'D';
  std::vector<std::string> waits;
  for (const AnrThread& thread : TakeAnrThreads(1, 200 * kMs, &process).threads) {
    waits.push_back(thread.told.name + ": " + thread.told.state + " " + thread.told.wait);
  }
  EXPECT_THAT(waits, ElementsAre("running: S running", "runnable: R running", "lock: S lock",
                                 "sleeping: S sleeping", "other: S blocked", "disk: D disk"));
}

class DeadlocksOfTest : public testing::Test {
 protected:
  DeadlocksOfTest() {
    window_.threads.reserve(3);
    watcher_.emplace(AddThread(&window_, 50, "jankbox-watch"));
  }
  RingWindow window_;
  std::optional<FakeThread> watcher_;
};

TEST_F(DeadlocksOfTest, AreThoseThatTheWatcherRecorded) {
  watcher_->Marker("I|9|deadlock: a and b", 100).Marker("I|9|deadlock: c and d", 200);
  EXPECT_THAT(DeadlocksOf(window_, 0), ElementsAre("deadlock: a and b", "deadlock: c and d"));
}

TEST_F(DeadlocksOfTest, OneThatWasRecordedAgainIsOne) {
  watcher_->Marker("I|9|deadlock: a and b", 100).Marker("I|9|deadlock: a and b", 200);
  EXPECT_THAT(DeadlocksOf(window_, 0), SizeIs(1));
}

TEST_F(DeadlocksOfTest, OneBeforeTheIncidentIsNotItsOwn) {
  watcher_->Marker("I|9|deadlock: old", 100).Marker("I|9|deadlock: new", 200);
  EXPECT_THAT(DeadlocksOf(window_, 150), ElementsAre("deadlock: new"));
  EXPECT_THAT(DeadlocksOf(window_, 201), IsEmpty());
}

TEST_F(DeadlocksOfTest, MarkersOfTheAppAreNotBelieved) {
  AddThread(&window_, 9, "main").Marker("I|9|deadlock: made up", 100);
  watcher_->Marker("B|9|deadlock: a slice", 100).Marker("I|9|not a deadlock: x", 100);
  watcher_->Marker("garbage", 100);
  EXPECT_THAT(DeadlocksOf(window_, 0), IsEmpty());
}

TEST(AnrThreadsToReport, FramesAreNamedAndCut) {
  FrameTable frames;
  AnrThreads taken;
  StackSample deep;
  deep.depth = 60;
  for (uint32_t i = 0; i < deep.depth; ++i) {
    deep.pcs[i] = 100 + i;
    frames[100 + i] = {.function = "f" + std::to_string(i), .module = "libapp.so", .rel_pc = i};
  }
  frames[100].function = std::string(1000, 'x');
  frames.erase(101);
  taken.stacks = {deep};
  taken.threads.push_back({.told = {.tid = 1, .name = "main", .wait = "lock"}, .stack = 0});
  taken.threads.push_back({.told = {.tid = 2, .name = "runs"}});
  const std::vector<ReportThreadAtAnr> told = ToReport(taken, frames);
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_EQ(told[0].wait, "lock");
  ASSERT_THAT(told[0].frames, SizeIs(23)) << "24 of the stack, one of which is not known";
  EXPECT_EQ(told[0].frames[0].function.size(), 256u);
  EXPECT_EQ(told[0].frames[1].function, "f2");
  EXPECT_EQ(told[0].frames[1].rel_pc, 2u);
  EXPECT_THAT(told[1].frames, IsEmpty());
}

// The live process, so that what the fake stands for is true: this thread waits in none of the
// system calls that it is asked about, and it is listed.
TEST(AnrThreads, LiveProcessHasThisThread) {
  const AnrThreads taken = TakeAnrThreads(static_cast<int32_t>(syscall(SYS_gettid)), 200 * kMs);
  ASSERT_FALSE(taken.threads.empty());
  EXPECT_EQ(taken.threads[0].told.tid, static_cast<int32_t>(syscall(SYS_gettid)));
  EXPECT_EQ(taken.threads[0].told.wait, "running");
  EXPECT_EQ(taken.threads[0].stack, SIZE_MAX);
}

}  // namespace
}  // namespace jankbox
