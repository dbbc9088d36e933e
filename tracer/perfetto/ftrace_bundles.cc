#include "tracer/perfetto/ftrace_bundles.h"

#include <sys/sysmacros.h>
#include <sys/utsname.h>

#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/private_text.h"
#include "tracer/perfetto/trace_fields.h"

namespace jankbox {
namespace {

namespace field = perfetto::ftrace_event;

constexpr size_t kMaxEventsInPacket = 512;

std::string Text(const char (&text)[kCommBytes]) {
  return SealedText(std::string_view(text, strnlen(text, sizeof(text))));
}

// The kernel's device number as user space spells it.
uint64_t UserDevice(uint32_t dev) { return makedev(dev >> 20, dev & ((1u << 20) - 1)); }

void WriteSwitch(ProtoWriter& writer, const SwitchFields& sched) {
  namespace message = perfetto::sched_switch_ftrace_event;
  writer.Bytes(message::kPrevComm, Text(sched.prev_comm));
  writer.Int(message::kPrevPid, sched.prev_pid);
  writer.Int(message::kPrevPrio, sched.prev_prio);
  writer.Int(message::kPrevState, sched.prev_state);
  writer.Bytes(message::kNextComm, Text(sched.next_comm));
  writer.Int(message::kNextPid, sched.next_pid);
  writer.Int(message::kNextPrio, sched.next_prio);
}

void WriteWake(ProtoWriter& writer, const WakeFields& wake) {
  namespace message = perfetto::sched_wakeup_ftrace_event;
  writer.Bytes(message::kComm, Text(wake.comm));
  writer.Int(message::kPid, wake.pid);
  writer.Int(message::kPrio, wake.prio);
  writer.Int(message::kSuccess, 1);  // success: kernels since 4.3 report nothing else
  writer.Int(message::kTargetCpu, wake.target_cpu);
}

void WriteExit(ProtoWriter& writer, const WakeFields& exit) {
  namespace message = perfetto::sched_process_exit_ftrace_event;
  writer.Bytes(message::kComm, Text(exit.comm));
  writer.Int(message::kPid, exit.pid);
  writer.Int(message::kPrio, exit.prio);
}

void WriteIssue(ProtoWriter& writer, const BlockFields& block) {
  namespace message = perfetto::block_rq_issue_ftrace_event;
  writer.Varint(message::kDev, UserDevice(block.dev));
  writer.Varint(message::kSector, block.sector);
  writer.Varint(message::kNrSector, block.nr_sector);
  writer.Varint(message::kBytes, block.bytes);
  writer.Bytes(message::kRwbs, Text(block.rwbs));
  writer.Bytes(message::kComm, Text(block.comm));
}

void WriteComplete(ProtoWriter& writer, const BlockFields& block) {
  namespace message = perfetto::block_rq_complete_ftrace_event;
  writer.Varint(message::kDev, UserDevice(block.dev));
  writer.Varint(message::kSector, block.sector);
  writer.Varint(message::kNrSector, block.nr_sector);
  writer.Bytes(message::kRwbs, Text(block.rwbs));
  writer.Int(message::kError, block.error);
}

void WriteNewTask(ProtoWriter& writer, const TaskFields& task) {
  namespace message = perfetto::task_newtask_ftrace_event;
  writer.Int(message::kPid, task.pid);
  writer.Bytes(message::kComm, Text(task.comm));
  writer.Varint(message::kCloneFlags, task.clone_flags);
  writer.Int(message::kOomScoreAdj, task.oom_score_adj);
}

void WriteRename(ProtoWriter& writer, const TaskFields& task) {
  namespace message = perfetto::task_rename_ftrace_event;
  writer.Int(message::kPid, task.pid);
  writer.Bytes(message::kOldcomm, Text(task.comm));
  writer.Bytes(message::kNewcomm, Text(task.new_comm));
  writer.Int(message::kOomScoreAdj, task.oom_score_adj);
}

void WriteKind(ProtoWriter& event, const KernelEvent& of) {
  switch (of.kind) {
    case KernelEventKind::kSwitch:
      return event.Message(field::kSchedSwitch, [&](ProtoWriter& m) { WriteSwitch(m, of.sched); });
    case KernelEventKind::kWaking:
      return event.Message(field::kSchedWaking, [&](ProtoWriter& m) { WriteWake(m, of.wake); });
    case KernelEventKind::kWakeupNew:
      return event.Message(field::kSchedWakeupNew, [&](ProtoWriter& m) { WriteWake(m, of.wake); });
    case KernelEventKind::kExit:
      return event.Message(field::kSchedProcessExit,
                           [&](ProtoWriter& m) { WriteExit(m, of.wake); });
    case KernelEventKind::kBlockIssue:
      return event.Message(field::kBlockRqIssue, [&](ProtoWriter& m) { WriteIssue(m, of.block); });
    case KernelEventKind::kBlockComplete:
      return event.Message(field::kBlockRqComplete,
                           [&](ProtoWriter& m) { WriteComplete(m, of.block); });
    case KernelEventKind::kNewTask:
      return event.Message(field::kTaskNewtask, [&](ProtoWriter& m) { WriteNewTask(m, of.task); });
    case KernelEventKind::kRename:
      return event.Message(field::kTaskRename, [&](ProtoWriter& m) { WriteRename(m, of.task); });
    case KernelEventKind::kPageFault:
      return;
  }
}

void WriteSystemInfo(PacketWriter* writer, uint32_t sequence_id) {
  struct utsname name {};
  uname(&name);
  writer->Packet([&](ProtoWriter& packet) {
    packet.Varint(perfetto::trace_packet::kTrustedPacketSequenceId, sequence_id);
    packet.Varint(perfetto::trace_packet::kSequenceFlags,
                  perfetto::trace_packet::kSeqIncrementalStateCleared);
    packet.Bool(perfetto::trace_packet::kFirstPacketOnSequence, true);
    packet.Message(perfetto::trace_packet::kSystemInfo, [&](ProtoWriter& info) {
      info.Message(perfetto::system_info::kUtsname, [&](ProtoWriter& utsname) {
        utsname.Bytes(perfetto::utsname::kSysname, name.sysname);
        utsname.Bytes(perfetto::utsname::kRelease, name.release);
        utsname.Bytes(perfetto::utsname::kMachine, name.machine);
      });
    });
  });
}

// The threads of the events that are not of the process. The idle task is no thread.
std::set<int32_t> OtherThreads(const KernelWindow& kernel) {
  std::set<int32_t> others;
  for (const KernelEvent& event : kernel.events) {
    if (event.kind == KernelEventKind::kPageFault) continue;
    others.insert(event.tid);
    if (event.kind != KernelEventKind::kSwitch) continue;
    others.insert(event.sched.prev_pid);
    others.insert(event.sched.next_pid);
  }
  others.erase(0);
  for (const int32_t tid : kernel.own_threads) others.erase(tid);
  return others;
}

void WriteOtherPrograms(PacketWriter* writer, uint32_t sequence_id, const KernelWindow& kernel) {
  const std::set<int32_t> others = OtherThreads(kernel);
  if (others.empty()) return;
  namespace tree = perfetto::process_tree;
  writer->Packet([&](ProtoWriter& packet) {
    packet.Varint(perfetto::trace_packet::kTrustedPacketSequenceId, sequence_id);
    packet.Varint(perfetto::trace_packet::kSequenceFlags,
                  perfetto::trace_packet::kSeqNeedsIncrementalState);
    packet.Varint(perfetto::trace_packet::kTimestamp, kernel.from_ns);
    packet.Message(perfetto::trace_packet::kProcessTree, [&](ProtoWriter& message) {
      message.Message(tree::kProcesses, [&](ProtoWriter& process) {
        process.Int(tree::process::kPid, kOtherProgramsPid);
        // Importers cut a command line of one word at its first space.
        process.Bytes(tree::process::kCmdline, "Other programs");
        process.Bytes(tree::process::kCmdline, "(threads that the kernel's events name)");
      });
      for (const int32_t tid : others) {
        message.Message(tree::kThreads, [&](ProtoWriter& thread) {
          thread.Int(tree::thread::kTid, tid);
          thread.Int(tree::thread::kTgid, kOtherProgramsPid);
        });
      }
    });
  });
}

void WriteBundle(PacketWriter* writer, uint32_t sequence_id, uint16_t cpu, bool lost_events,
                 std::span<const KernelEvent* const> events) {
  writer->Packet([&](ProtoWriter& packet) {
    packet.Varint(perfetto::trace_packet::kTrustedPacketSequenceId, sequence_id);
    packet.Varint(perfetto::trace_packet::kSequenceFlags,
                  perfetto::trace_packet::kSeqNeedsIncrementalState);
    packet.Message(perfetto::trace_packet::kFtraceEvents, [&](ProtoWriter& bundle) {
      bundle.Varint(perfetto::ftrace_event_bundle::kCpu, cpu);
      for (const KernelEvent* of : events) {
        bundle.Message(perfetto::ftrace_event_bundle::kEvent, [&](ProtoWriter& event) {
          event.Varint(field::kTimestamp, of->time);
          event.Int(field::kPid, of->tid);
          WriteKind(event, *of);
        });
      }
      if (lost_events) bundle.Bool(perfetto::ftrace_event_bundle::kLostEvents, true);
    });
  });
}

}  // namespace

uint64_t WriteFtraceBundles(PacketWriter* writer, uint32_t sequence_id,
                            const KernelWindow& kernel) {
  std::map<uint16_t, std::vector<const KernelEvent*>> by_cpu;
  for (const KernelEvent& event : kernel.events) {
    if (event.kind != KernelEventKind::kPageFault) by_cpu[event.cpu].push_back(&event);
  }
  for (uint16_t cpu : kernel.lossy_cpus) by_cpu[cpu];
  if (by_cpu.empty()) return 0;
  WriteSystemInfo(writer, sequence_id);
  WriteOtherPrograms(writer, sequence_id, kernel);
  uint64_t written = 0;
  for (const auto& [cpu, events] : by_cpu) {
    bool lost = kernel.lossy_cpus.contains(cpu);
    std::span<const KernelEvent* const> left(events);
    do {
      const auto piece = left.first(std::min(left.size(), kMaxEventsInPacket));
      left = left.subspan(piece.size());
      WriteBundle(writer, sequence_id, cpu, lost, piece);
      lost = false;
      written += piece.size();
    } while (!left.empty());
  }
  return written;
}

}  // namespace jankbox
