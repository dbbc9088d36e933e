#include "tracer/perfetto/ftrace_bundles.h"

#include <sys/sysmacros.h>
#include <sys/utsname.h>

#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/perfetto/trace_fields.h"
#include "tracer/perfetto/utf8.h"

namespace jankbox {
namespace {

namespace field = perfetto::ftrace_event;

constexpr size_t kMaxEventsInPacket = 512;

std::string Text(const char (&text)[kCommBytes]) {
  return ToValidUtf8(std::string_view(text, strnlen(text, sizeof(text))));
}

// The kernel's device number as user space spells it.
uint64_t UserDevice(uint32_t dev) { return makedev(dev >> 20, dev & ((1u << 20) - 1)); }

void WriteSwitch(ProtoWriter& message, const SwitchFields& sched) {
  message.Bytes(1, Text(sched.prev_comm));
  message.Int(2, sched.prev_pid);
  message.Int(3, sched.prev_prio);
  message.Int(4, sched.prev_state);
  message.Bytes(5, Text(sched.next_comm));
  message.Int(6, sched.next_pid);
  message.Int(7, sched.next_prio);
}

void WriteWake(ProtoWriter& message, const WakeFields& wake) {
  message.Bytes(1, Text(wake.comm));
  message.Int(2, wake.pid);
  message.Int(3, wake.prio);
  message.Int(4, 1);  // success: kernels since 4.3 report nothing else
  message.Int(5, wake.target_cpu);
}

void WriteExit(ProtoWriter& message, const WakeFields& exit) {
  message.Bytes(1, Text(exit.comm));
  message.Int(2, exit.pid);
  message.Int(4, exit.prio);
}

void WriteIssue(ProtoWriter& message, const BlockFields& block) {
  message.Varint(1, UserDevice(block.dev));
  message.Varint(2, block.sector);
  message.Varint(3, block.nr_sector);
  message.Varint(4, block.bytes);
  message.Bytes(5, Text(block.rwbs));
  message.Bytes(6, Text(block.comm));
}

void WriteComplete(ProtoWriter& message, const BlockFields& block) {
  message.Varint(1, UserDevice(block.dev));
  message.Varint(2, block.sector);
  message.Varint(3, block.nr_sector);
  message.Bytes(5, Text(block.rwbs));
  message.Int(7, block.error);
}

void WriteNewTask(ProtoWriter& message, const TaskFields& task) {
  message.Int(1, task.pid);
  message.Bytes(2, Text(task.comm));
  message.Varint(3, task.clone_flags);
  message.Int(4, task.oom_score_adj);
}

void WriteRename(ProtoWriter& message, const TaskFields& task) {
  message.Int(1, task.pid);
  message.Bytes(2, Text(task.comm));
  message.Bytes(3, Text(task.new_comm));
  message.Int(4, task.oom_score_adj);
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
    packet.Varint(perfetto::packet::kTrustedSequenceId, sequence_id);
    packet.Varint(perfetto::packet::kSequenceFlags, perfetto::kIncrementalStateCleared);
    packet.Bool(perfetto::packet::kFirstPacketOnSequence, true);
    packet.Message(perfetto::packet::kSystemInfo, [&](ProtoWriter& info) {
      info.Message(perfetto::system_info::kUtsname, [&](ProtoWriter& utsname) {
        utsname.Bytes(perfetto::system_info::kSysname, name.sysname);
        utsname.Bytes(perfetto::system_info::kRelease, name.release);
        utsname.Bytes(perfetto::system_info::kMachine, name.machine);
      });
    });
  });
}

void WriteBundle(PacketWriter* writer, uint32_t sequence_id, uint16_t cpu, bool lost_events,
                 std::span<const KernelEvent* const> events) {
  writer->Packet([&](ProtoWriter& packet) {
    packet.Varint(perfetto::packet::kTrustedSequenceId, sequence_id);
    packet.Varint(perfetto::packet::kSequenceFlags, perfetto::kNeedsIncrementalState);
    packet.Message(perfetto::packet::kFtraceEvents, [&](ProtoWriter& bundle) {
      bundle.Varint(perfetto::ftrace_bundle::kCpu, cpu);
      for (const KernelEvent* of : events) {
        bundle.Message(perfetto::ftrace_bundle::kEvent, [&](ProtoWriter& event) {
          event.Varint(field::kTimestamp, of->time);
          event.Int(field::kPid, of->tid);
          WriteKind(event, *of);
        });
      }
      if (lost_events) bundle.Bool(perfetto::ftrace_bundle::kLostEvents, true);
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
