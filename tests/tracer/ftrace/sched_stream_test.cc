#include "tracer/ftrace/sched_stream.h"

#include <gmock/gmock.h>

#include <string>

namespace jankbox {
namespace {

using ::testing::ElementsAre;

constexpr int32_t kUi = 100;
constexpr int32_t kWorker = 101;
constexpr int64_t kRunning = 0;
constexpr int64_t kSleeping = 1;
constexpr int64_t kPreempted = 0x100;

bool IsOurs(int32_t tid) { return tid == kUi || tid == kWorker; }

KernelEvent Switch(uint64_t time, uint16_t cpu, int32_t prev, int64_t state, int32_t next) {
  KernelEvent event;
  event.time = time;
  event.cpu = cpu;
  event.tid = prev;
  event.kind = KernelEventKind::kSwitch;
  event.sched.prev_pid = prev;
  event.sched.prev_state = state;
  event.sched.next_pid = next;
  return event;
}

KernelEvent Request(uint64_t time, KernelEventKind kind, int32_t tid, uint64_t sector) {
  KernelEvent event;
  event.time = time;
  event.tid = tid;
  event.kind = kind;
  event.block = {};
  event.block.sector = sector;
  return event;
}

std::vector<std::string> Stream(std::vector<KernelEvent> events) {
  MakeSchedStream(IsOurs, &events);
  std::vector<std::string> lines;
  for (const KernelEvent& event : events) {
    lines.push_back(std::to_string(event.time) + " cpu" + std::to_string(event.cpu) + " " +
                    std::to_string(event.sched.prev_pid) + ">" +
                    std::to_string(event.sched.next_pid));
  }
  return lines;
}

TEST(SchedStream, GapOfASleeperIsIdle) {
  // 7 took the CPU when ours went to sleep, and gave it back: what ran between is not known.
  EXPECT_THAT(Stream({Switch(10, 0, 0, kRunning, kUi), Switch(20, 0, kUi, kSleeping, 7),
                      Switch(90, 0, 7, kSleeping, kUi)}),
              ElementsAre("10 cpu0 0>100", "20 cpu0 100>0", "90 cpu0 0>100"));
}

TEST(SchedStream, ThreadThatPreemptedOursAndGaveBackStays) {
  EXPECT_THAT(Stream({Switch(10, 0, 0, kRunning, kUi), Switch(20, 0, kUi, kPreempted, 7),
                      Switch(90, 0, 7, kRunning, kUi)}),
              ElementsAre("10 cpu0 0>100", "20 cpu0 100>7", "90 cpu0 7>100"));
}

TEST(SchedStream, AnotherThreadThanTheOneThatTookTheCpuMakesAGap) {
  EXPECT_THAT(Stream({Switch(20, 0, kUi, kPreempted, 7), Switch(90, 0, 8, kRunning, kUi)}),
              ElementsAre("20 cpu0 100>0", "90 cpu0 0>100"));
}

TEST(SchedStream, OursAfterOursIsNotTouched) {
  EXPECT_THAT(
      Stream({Switch(20, 0, kUi, kSleeping, kWorker), Switch(30, 0, kWorker, kSleeping, kUi)}),
      ElementsAre("20 cpu0 100>101", "30 cpu0 101>100"));
}

TEST(SchedStream, CpusAreApartAndEventsSorted) {
  EXPECT_THAT(Stream({Switch(40, 1, kUi, kSleeping, 9), Switch(30, 1, 9, kSleeping, kUi),
                      Switch(35, 0, kWorker, kPreempted, 7)}),
              ElementsAre("30 cpu1 9>100", "35 cpu0 101>7", "40 cpu1 100>0"));
}

TEST(SchedStream, LostSwitchEndsTheTimeOfItsThread) {
  // Ours came, and then came again: its leaving was lost.
  EXPECT_THAT(Stream({Switch(10, 0, 0, kRunning, kUi), Switch(50, 0, 7, kSleeping, kUi)}),
              ElementsAre("10 cpu0 0>0", "50 cpu0 0>100"));
}

KernelEvent Waking(uint64_t time, int32_t tid) {
  KernelEvent event;
  event.time = time;
  event.kind = KernelEventKind::kWaking;
  event.wake = {};
  event.wake.pid = tid;
  return event;
}

TEST(SchedStream, MissedArrivalIsTheWakeUp) {
  std::vector<KernelEvent> events = {
      Switch(10, 0, 0, kRunning, kUi), Switch(20, 0, kUi, kSleeping, 0), Waking(50, kUi),
      Switch(60, 0, kUi, kSleeping, 0), Switch(80, 0, 0, kRunning, kUi)};
  EXPECT_EQ(MakeSchedStream(IsOurs, &events), 1u);
  ASSERT_EQ(events.size(), 6u);
  EXPECT_EQ(events[2].kind, KernelEventKind::kWaking);
  EXPECT_EQ(events[3].time, 50u);
  EXPECT_EQ(events[3].sched.prev_pid, 0);
  EXPECT_EQ(events[3].sched.next_pid, kUi);
  EXPECT_EQ(events[4].sched.prev_pid, kUi);
  EXPECT_EQ(events[4].sched.prev_state, kSleeping);
}

TEST(SchedStream, WakeUpBeforeTheLastSwitchExplainsNothing) {
  std::vector<KernelEvent> events = {Waking(15, kUi), Switch(20, 0, kUi, kSleeping, 7),
                                     Switch(60, 0, kUi, kSleeping, 0)};
  EXPECT_EQ(MakeSchedStream(IsOurs, &events), 1u);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1].sched.next_pid, 0);
  EXPECT_EQ(events[2].sched.prev_pid, 0);
}

TEST(SchedStream, MissedReturnRemovesThePreemption) {
  std::vector<KernelEvent> events = {Switch(10, 0, 0, kRunning, kUi),
                                     Switch(20, 0, kUi, kPreempted, 7),
                                     Switch(60, 0, kUi, kSleeping, 0)};
  EXPECT_EQ(MakeSchedStream(IsOurs, &events), 1u);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].sched.next_pid, kUi);
  EXPECT_EQ(events[1].time, 60u);
  EXPECT_EQ(events[1].sched.prev_pid, kUi);
}

TEST(SchedStream, OthersAreLeftOut) {
  KernelEvent child;
  child.kind = KernelEventKind::kWaking;
  child.wake = {};
  child.wake.pid = 500;
  std::vector<KernelEvent> events = {Switch(10, 0, 7, kRunning, 8), child};
  MakeSchedStream(IsOurs, &events);
  EXPECT_TRUE(events.empty());
}

TEST(SchedStream, OnlyCompletionsOfOurRequestsStay) {
  std::vector<KernelEvent> events = {Request(10, KernelEventKind::kBlockIssue, kUi, 800),
                                     Request(11, KernelEventKind::kBlockIssue, 7, 900),
                                     Request(20, KernelEventKind::kBlockComplete, 0, 900),
                                     Request(21, KernelEventKind::kBlockComplete, 0, 800),
                                     Request(22, KernelEventKind::kBlockComplete, 0, 800)};
  MakeSchedStream(IsOurs, &events);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].time, 10u);
  EXPECT_EQ(events[1].time, 21u);
}

TEST(SchedStream, RunnableStates) {
  EXPECT_TRUE(StillRunnable(kRunning));
  EXPECT_TRUE(StillRunnable(kPreempted));
  for (int64_t state : {1, 2, 4, 8, 16, 32, 64, 128}) EXPECT_FALSE(StillRunnable(state)) << state;
}

}  // namespace
}  // namespace jankbox
