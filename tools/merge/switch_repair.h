// Finds where the switches of a capture contradict each other: the thread that leaves a CPU is not
// the one that the last switch put there. Kernels miss single switches, filters by process leave
// out the last one of a thread that exits, and buffers are overwritten. Importers take the first
// thread's time on the CPU for endless. What is missing is put in as far as it is known: the first
// thread leaves after its last event on that CPU, the other one comes when it was woken, else just
// before it leaves; the CPU is idle in between. One thread; memory grows with what is missing.
#ifndef JANKBOX_TOOLS_MERGE_SWITCH_REPAIR_H_
#define JANKBOX_TOOLS_MERGE_SWITCH_REPAIR_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/merge/captured_event.pb.h"

namespace jankbox::tools {

class SwitchRepair {
 public:
  // Events of each CPU in order of time; others count as they come.
  void Take(const traceproto::CapturedEvent& event);

  // Switches that contradicted the one before.
  uint64_t contradictions() const { return contradictions_; }
  // Those to put in: of each CPU in order of time. One that has the time of a switch of the capture
  // comes before it.
  std::vector<traceproto::CapturedEvent> TakeMissing() { return std::move(missing_); }

 private:
  struct Task {
    int32_t tid = 0;  // 0: idle
    std::string comm = "swapper";
    int32_t priority = 120;
  };
  struct Cpu {
    bool known = false;  // who is on it
    Task task;
    uint64_t came_ns = 0;
    uint64_t seen_ns = 0;  // its last event there
    bool exits = false;
    int32_t preempted_tid = 0;  // that it took the CPU from; 0: one that could not go on
    uint64_t last_ns = 0;
  };

  void TakeSwitch(const traceproto::CapturedEvent& event, Cpu* cpu);
  void Repair(uint32_t number, const Cpu& cpu, const Task& leaves, uint64_t ns);
  void Add(uint32_t number, uint64_t ns, const Task& from, int64_t from_state, const Task& to);

  std::unordered_map<uint32_t, Cpu> cpus_;
  std::unordered_map<int32_t, uint64_t> woken_ns_;  // of threads that no CPU has taken since
  uint64_t contradictions_ = 0;
  std::vector<traceproto::CapturedEvent> missing_;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_SWITCH_REPAIR_H_
