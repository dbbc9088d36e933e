#include "tools/merge/switch_repair.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>

namespace jankbox::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using traceproto::CapturedEvent;

constexpr int32_t kA = 11, kB = 12, kC = 13;
constexpr int64_t kRunnable = 0, kAsleep = 1;

CapturedEvent Event(uint32_t cpu, uint64_t ns, int32_t tid) {
  CapturedEvent event;
  event.set_cpu(cpu);
  event.mutable_event()->set_timestamp(ns);
  event.mutable_event()->set_pid(static_cast<uint32_t>(tid));
  return event;
}

CapturedEvent Switch(uint32_t cpu, uint64_t ns, int32_t prev, int64_t state, int32_t next) {
  CapturedEvent event = Event(cpu, ns, prev);
  auto* fields = event.mutable_event()->mutable_sched_switch();
  fields->set_prev_pid(prev);
  fields->set_prev_state(state);
  fields->set_prev_comm("task " + std::to_string(prev));
  fields->set_next_pid(next);
  fields->set_next_comm("task " + std::to_string(next));
  fields->set_next_prio(100 + next);
  return event;
}

CapturedEvent Waking(uint32_t cpu, uint64_t ns, int32_t waker, int32_t tid) {
  CapturedEvent event = Event(cpu, ns, waker);
  event.mutable_event()->mutable_sched_waking()->set_pid(tid);
  return event;
}

CapturedEvent Mark(uint32_t cpu, uint64_t ns, int32_t tid) {
  CapturedEvent event = Event(cpu, ns, tid);
  event.mutable_event()->mutable_print()->set_buf("I|1|mark\n");
  return event;
}

CapturedEvent Exit(uint32_t cpu, uint64_t ns, int32_t tid) {
  CapturedEvent event = Event(cpu, ns, tid);
  event.mutable_event()->mutable_sched_process_exit()->set_pid(tid);
  return event;
}

// "1: 50 11(1) > 12", by CPU.
std::vector<std::string> Missing(const std::vector<CapturedEvent>& events) {
  SwitchRepair repair;
  for (const CapturedEvent& event : events) repair.Take(event);
  std::vector<std::string> lines;
  for (const CapturedEvent& event : repair.TakeMissing()) {
    const auto& fields = event.event().sched_switch();
    lines.push_back(std::to_string(event.cpu()) + ": " + std::to_string(event.event().timestamp()) +
                    " " + std::to_string(fields.prev_pid()) + "(" +
                    std::to_string(fields.prev_state()) + ") > " +
                    std::to_string(fields.next_pid()));
  }
  return lines;
}

TEST(SwitchRepair, NothingIsMissingIfEachThreadLeavesThatCame) {
  EXPECT_THAT(Missing({Switch(0, 10, 0, kRunnable, kA), Switch(1, 15, 0, kRunnable, kB),
                       Switch(0, 20, kA, kAsleep, kC), Switch(1, 25, kB, kAsleep, kA),
                       Switch(0, 30, kC, kAsleep, 0)}),
              IsEmpty());
}

TEST(SwitchRepair, BetweenTwoThreadsTheCpuIsIdle) {
  const std::vector<CapturedEvent> events = {Switch(1, 10, 0, kRunnable, kA),
                                             Switch(1, 50, kB, kAsleep, kC)};
  EXPECT_THAT(Missing(events), ElementsAre("1: 11 11(1) > 0", "1: 50 0(0) > 12"));
  SwitchRepair repair;
  for (const CapturedEvent& event : events) repair.Take(event);
  EXPECT_EQ(repair.contradictions(), 1u);
  const std::vector<CapturedEvent> missing = repair.TakeMissing();
  EXPECT_EQ(missing[0].event().sched_switch().prev_comm(), "task 11");
  EXPECT_EQ(missing[0].event().sched_switch().prev_prio(), 111);
  EXPECT_EQ(missing[1].event().sched_switch().next_comm(), "task 12");
}

TEST(SwitchRepair, ThreadWasThereUntilItsLastEvent) {
  EXPECT_THAT(Missing({Switch(0, 10, 0, kRunnable, kA), Mark(0, 30, kA), Mark(1, 40, kA),
                       Switch(0, 50, kB, kAsleep, kC)}),
              ElementsAre("0: 30 11(1) > 0", "0: 50 0(0) > 12"));
}

// Filters forget a thread as it exits, before it leaves.
TEST(SwitchRepair, ThreadThatExitedIsDead) {
  EXPECT_THAT(
      Missing({Switch(0, 10, 0, kRunnable, kA), Exit(0, 30, kA), Switch(0, 50, 0, kRunnable, kC)}),
      ElementsAre("0: 30 11(16) > 0"));
}

TEST(SwitchRepair, ThreadCameWhenItWasWoken) {
  EXPECT_THAT(Missing({Switch(0, 10, 0, kRunnable, kA), Waking(1, 40, kC, kB),
                       Switch(0, 50, kB, kAsleep, kC)}),
              ElementsAre("0: 11 11(1) > 0", "0: 40 0(0) > 12"));
}

TEST(SwitchRepair, PreemptedThreadWentOnWhenTheOtherOneLeft) {
  EXPECT_THAT(
      Missing({Switch(0, 10, kB, kRunnable, kA), Mark(0, 20, kA), Switch(0, 50, kB, kAsleep, kC)}),
      ElementsAre("0: 20 11(1) > 12"));
}

TEST(SwitchRepair, IdleCpuNeedsOnlyTheArrival) {
  EXPECT_THAT(Missing({Switch(0, 10, kA, kAsleep, 0), Switch(0, 50, kB, kAsleep, kC)}),
              ElementsAre("0: 50 0(0) > 12"));
}

TEST(SwitchRepair, ThreadThatWasWokenBeforeTheFirstSwitchOfItsCpuCame) {
  EXPECT_THAT(Missing({Waking(1, 5, kC, kB), Switch(0, 20, kB, kAsleep, 0)}),
              ElementsAre("0: 5 0(0) > 12"));
  EXPECT_THAT(Missing({Switch(0, 20, kB, kAsleep, 0)}), IsEmpty());
}

// Whatever is left out of a schedule: with what is put in, each thread leaves a CPU that is on it.
TEST(SwitchRepair, AnyScheduleWithHolesBecomesOne) {
  constexpr uint32_t kCpus = 4;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::map<uint32_t, int32_t> on;
    std::vector<CapturedEvent> events;
    uint64_t dropped = 0;
    for (uint64_t ns = 100; ns < 100'000; ns += 2 + random() % 50) {
      const uint32_t cpu = random() % kCpus;
      const int32_t tid = static_cast<int32_t>(random() % 12);
      if (random() % 3 == 0) {
        events.push_back(random() % 2 == 0 ? Waking(cpu, ns, on[cpu], tid)
                                           : Mark(cpu, ns, on[cpu]));
        continue;
      }
      const bool elsewhere = std::any_of(on.begin(), on.end(), [tid](const auto& entry) {
        return tid != 0 && entry.second == tid;
      });
      if (elsewhere || on[cpu] == tid) continue;
      const CapturedEvent event =
          Switch(cpu, ns, on[cpu], random() % 2 == 0 ? kRunnable : kAsleep, tid);
      on[cpu] = tid;
      if (random() % 8 == 0) {
        ++dropped;
      } else {
        events.push_back(event);
      }
    }
    SwitchRepair repair;
    for (const CapturedEvent& event : events) repair.Take(event);
    ASSERT_GT(repair.contradictions(), 0u) << seed;
    ASSERT_LE(repair.contradictions(), dropped + kCpus) << seed;
    std::vector<CapturedEvent> all = repair.TakeMissing();
    all.insert(all.end(), events.begin(), events.end());
    std::stable_sort(all.begin(), all.end(), [](const CapturedEvent& a, const CapturedEvent& b) {
      return a.event().timestamp() < b.event().timestamp();
    });
    std::map<uint32_t, int32_t> now;
    for (const CapturedEvent& event : all) {
      if (!event.event().has_sched_switch()) continue;
      const auto& fields = event.event().sched_switch();
      const auto before = now.find(event.cpu());
      if (before != now.end()) {
        ASSERT_EQ(before->second, fields.prev_pid()) << seed;
      }
      now[event.cpu()] = fields.next_pid();
    }
  }
}

}  // namespace
}  // namespace jankbox::tools
