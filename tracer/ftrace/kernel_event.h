// The kernel's events of the process's threads, decoded: one event of ftrace, a page fault, a time
// off the CPU. Plain data; `time` is the trace clock's stamp as read and BOOTTIME in ns once
// converted.
#ifndef JANKBOX_TRACER_FTRACE_KERNEL_EVENT_H_
#define JANKBOX_TRACER_FTRACE_KERNEL_EVENT_H_

#include <cstdint>

namespace jankbox {

inline constexpr uint32_t kCommBytes = 16;  // the kernel's TASK_COMM_LEN

enum class KernelEventKind : uint8_t {
  kSwitch,
  kWaking,
  kWakeupNew,
  kBlockIssue,
  kBlockComplete,
  kNewTask,
  kRename,
  kExit,
  kPageFault,
};

struct SwitchFields {
  char prev_comm[kCommBytes];
  char next_comm[kCommBytes];
  int32_t prev_pid;
  int32_t prev_prio;
  int32_t next_pid;
  int32_t next_prio;
  int64_t prev_state;  // 0 or the kernel's TASK_REPORT_MAX: still runnable
};

// A wake-up, an exit.
struct WakeFields {
  char comm[kCommBytes];
  int32_t pid;
  int32_t prio;
  int32_t target_cpu;
};

struct BlockFields {
  char comm[kCommBytes];
  char rwbs[kCommBytes];
  uint64_t sector;
  uint32_t dev;  // the kernel's: major << 20 | minor
  uint32_t nr_sector;
  uint32_t bytes;
  int32_t error;
};

struct TaskFields {
  char comm[kCommBytes];
  char new_comm[kCommBytes];
  uint64_t clone_flags;
  int32_t pid;
  int32_t oom_score_adj;
};

struct KernelEvent {
  uint64_t time = 0;
  int32_t tid = 0;  // that was on the CPU
  uint16_t cpu = 0;
  KernelEventKind kind = KernelEventKind::kSwitch;
  bool in_interrupt = false;  // `tid` was only interrupted by what happened
  union {
    SwitchFields sched = {};
    WakeFields wake;
    BlockFields block;
    TaskFields task;
  };
};

// A time in which a thread of the process was not on a CPU, by its own context switches.
struct OffCpu {
  int32_t tid = 0;
  uint64_t from_ns = 0;  // BOOTTIME
  uint64_t to_ns = 0;
  bool preempted = false;  // it could have gone on
};

// A time in which a thread of the process could have run and another one had its CPU.
struct CpuRival {
  uint64_t from_ns = 0;  // BOOTTIME
  uint64_t to_ns = 0;
  int32_t tid = 0;
  int32_t rival_tid = 0;
  bool own = false;  // of this process too
  char name[kCommBytes] = {};
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_FTRACE_KERNEL_EVENT_H_
