#include "tools/merge/switch_repair.h"

#include <algorithm>

namespace jankbox::tools {
namespace {

using traceproto::CapturedEvent;
using traceproto::FtraceEvent;

// States of threads as the kernel has them since 4.14.
constexpr int64_t kNotRunnable = 0xff;
constexpr int64_t kRunnable = 0;
constexpr int64_t kSleeping = 0x01;
constexpr int64_t kDead = 0x10;

}  // namespace

void SwitchRepair::Take(const CapturedEvent& event) {
  const FtraceEvent& fields = event.event();
  const uint64_t ns = fields.timestamp();
  if (fields.has_sched_waking()) woken_ns_[fields.sched_waking().pid()] = ns;
  if (fields.has_sched_wakeup_new()) woken_ns_[fields.sched_wakeup_new().pid()] = ns;
  Cpu& cpu = cpus_[event.cpu()];
  if (ns < cpu.last_ns) return;
  cpu.last_ns = ns;
  const int32_t tid = static_cast<int32_t>(fields.pid());
  if (fields.has_sched_switch()) return TakeSwitch(event, &cpu);
  if (!cpu.known || tid != cpu.task.tid) return;
  cpu.seen_ns = ns;
  cpu.exits |= fields.has_sched_process_exit() && fields.sched_process_exit().pid() == tid;
}

void SwitchRepair::TakeSwitch(const CapturedEvent& event, Cpu* cpu) {
  const auto& fields = event.event().sched_switch();
  const uint64_t ns = event.event().timestamp();
  const Task leaves = {fields.prev_pid(), fields.prev_comm(), fields.prev_prio()};
  // The first switch of a CPU contradicts nothing, but what was woken has to come first.
  const bool missed =
      cpu->known ? cpu->task.tid != leaves.tid : leaves.tid != 0 && woken_ns_.contains(leaves.tid);
  if (missed) {
    ++contradictions_;
    Repair(event.cpu(), *cpu, leaves, ns);
  }
  woken_ns_.erase(leaves.tid);
  woken_ns_.erase(fields.next_pid());
  const bool runnable = (fields.prev_state() & kNotRunnable) == 0;
  *cpu = {.known = true,
          .task = {fields.next_pid(), fields.next_comm(), fields.next_prio()},
          .came_ns = ns,
          .seen_ns = ns,
          .preempted_tid = runnable ? leaves.tid : 0,
          .last_ns = ns};
}

void SwitchRepair::Repair(uint32_t number, const Cpu& cpu, const Task& leaves, uint64_t ns) {
  const Task idle;
  const bool ran = cpu.known && cpu.task.tid != 0;
  // After the switch that put it there, in an order of time too.
  const uint64_t left_ns = ran ? std::min(std::max(cpu.seen_ns, cpu.came_ns + 1), ns) : 0;
  const int64_t state = cpu.exits ? kDead : kSleeping;
  uint64_t came_ns = ns;
  const auto woken = woken_ns_.find(leaves.tid);
  if (woken != woken_ns_.end() && woken->second > cpu.came_ns) {
    came_ns = std::clamp(woken->second, left_ns, ns);
  } else if (ran && leaves.tid == cpu.preempted_tid) {
    came_ns = left_ns;  // it went on as soon as it could
  }
  if (ran && leaves.tid != 0 && came_ns == left_ns) {
    return Add(number, left_ns, cpu.task, state, leaves);
  }
  if (ran) Add(number, left_ns, cpu.task, state, idle);
  if (leaves.tid != 0) Add(number, came_ns, idle, kRunnable, leaves);
}

void SwitchRepair::Add(uint32_t number, uint64_t ns, const Task& from, int64_t from_state,
                       const Task& to) {
  CapturedEvent& event = missing_.emplace_back();
  event.set_cpu(number);
  event.mutable_event()->set_timestamp(ns);
  event.mutable_event()->set_pid(static_cast<uint32_t>(from.tid));
  auto* fields = event.mutable_event()->mutable_sched_switch();
  fields->set_prev_pid(from.tid);
  fields->set_prev_comm(from.comm);
  fields->set_prev_prio(from.priority);
  fields->set_prev_state(from_state);
  fields->set_next_pid(to.tid);
  fields->set_next_comm(to.comm);
  fields->set_next_prio(to.priority);
}

}  // namespace jankbox::tools
