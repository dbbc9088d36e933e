#include "tracer/ftrace/cpu_rivals.h"

#include <gmock/gmock.h>

#include <cstring>
#include <string>

namespace jankbox {
namespace {

using ::testing::ElementsAre;

constexpr int32_t kUi = 100;
constexpr int32_t kWorker = 101;
constexpr int64_t kSleeping = 1;
constexpr int64_t kPreempted = 0x100;
constexpr uint64_t kMs = 1'000'000;

KernelEvent Switch(uint64_t ms, int32_t prev, int64_t state, int32_t next) {
  KernelEvent event;
  event.time = ms * kMs;
  event.kind = KernelEventKind::kSwitch;
  event.sched.prev_pid = prev;
  event.sched.prev_state = state;
  event.sched.next_pid = next;
  snprintf(event.sched.prev_comm, sizeof(event.sched.prev_comm), "p%d", prev);
  snprintf(event.sched.next_comm, sizeof(event.sched.next_comm), "p%d", next);
  return event;
}

KernelEvent Waking(uint64_t ms, int32_t tid) {
  KernelEvent event;
  event.time = ms * kMs;
  event.kind = KernelEventKind::kWaking;
  event.wake = {};
  event.wake.pid = tid;
  return event;
}

std::vector<std::string> Rivals(const std::vector<KernelEvent>& events) {
  std::vector<std::string> lines;
  for (const CpuRival& rival :
       FindCpuRivals([](int32_t tid) { return tid == kUi || tid == kWorker; }, events)) {
    lines.push_back(std::to_string(rival.tid) + " behind " + rival.name + " " +
                    std::to_string(rival.from_ns / kMs) + "-" + std::to_string(rival.to_ns / kMs) +
                    (rival.own ? " own" : ""));
  }
  return lines;
}

TEST(CpuRivals, WhoTookTheCpuAndGaveItBackHadIt) {
  EXPECT_THAT(Rivals({Switch(10, kUi, kPreempted, 7), Switch(30, 7, kPreempted, kUi)}),
              ElementsAre("100 behind p7 10-30"));
}

TEST(CpuRivals, WhereTheyDifferEachHasHalf) {
  EXPECT_THAT(Rivals({Switch(10, kUi, kPreempted, kWorker), Switch(15, kWorker, kSleeping, 8),
                      Switch(30, 8, kPreempted, kUi)}),
              ElementsAre("100 behind p101 10-20 own", "100 behind p8 20-30"));
}

TEST(CpuRivals, WokenThreadWaitsForWhoeverGivesItTheCpu) {
  EXPECT_THAT(Rivals({Switch(10, kUi, kSleeping, 0), Waking(20, kUi), Switch(25, 8, 0, kUi)}),
              ElementsAre("100 behind p8 20-25"));
}

TEST(CpuRivals, IdleCpuHasNoOwner) {
  EXPECT_THAT(Rivals({Switch(10, kUi, kSleeping, 0), Waking(20, kUi), Switch(25, 0, 0, kUi)}),
              ElementsAre());
}

}  // namespace
}  // namespace jankbox
