#include <cinttypes>
#include <cstdio>

#include "tools/merge/trace_line.h"

namespace jankbox::tools {
namespace {

using traceproto::CapturedEvent;
using traceproto::FtraceEvent;

template <typename... Values>
std::string Format(const char* format, Values... values) {
  char text[256];
  snprintf(text, sizeof(text), format, values...);
  return text;
}

std::string OneLine(std::string_view text) {
  std::string line(text);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return line;
}

std::string Head(std::string_view comm, uint32_t tid, int32_t tgid, uint32_t cpu, uint64_t ns) {
  const std::string task = comm.empty() ? "<...>" : OneLine(comm);
  const std::string process = tgid > 0 ? Format("(%5d)", tgid) : "(-----)";
  return Format("%16s-%-5u ", task.substr(0, 64).c_str(), tid) + process +
         Format(" [%03u] .... %5" PRIu64 ".%06" PRIu64 ": ", cpu, ns / 1'000'000'000,
                ns % 1'000'000'000 / 1000);
}

std::string State(int64_t state) {
  std::string text;
  for (size_t bit = 0; bit < kStateLetters.size(); ++bit) {
    if ((state >> bit & 1) == 0) continue;
    if (!text.empty()) text += '|';
    text += kStateLetters[bit];
  }
  if (text.empty()) text = "R";
  return (state & kStatePreempted) != 0 ? text + "+" : text;
}

std::string Switch(const traceproto::SchedSwitchFtraceEvent& fields) {
  return "sched_switch: prev_comm=" + OneLine(fields.prev_comm()) +
         Format(" prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=", fields.prev_pid(),
                fields.prev_prio(), State(fields.prev_state()).c_str()) +
         OneLine(fields.next_comm()) +
         Format(" next_pid=%d next_prio=%d", fields.next_pid(), fields.next_prio());
}

std::string Wakeup(const char* name, const traceproto::SchedWakeupFtraceEvent& fields) {
  return std::string(name) + ": comm=" + OneLine(fields.comm()) +
         Format(" pid=%d prio=%d target_cpu=%03d", fields.pid(), fields.prio(),
                fields.target_cpu());
}

std::string Device(uint64_t dev) {
  return Format("%u,%u", static_cast<unsigned>(dev >> 20),
                static_cast<unsigned>(dev & ((1u << 20) - 1)));
}

std::string BlockIssue(const traceproto::BlockRqIssueFtraceEvent& fields) {
  return "block_rq_issue: " + Device(fields.dev()) + " " + OneLine(fields.rwbs()) +
         Format(" %u () %" PRIu64 " + %u [", fields.bytes(), fields.sector(), fields.nr_sector()) +
         OneLine(fields.comm()) + "]";
}

std::string BlockComplete(const traceproto::BlockRqCompleteFtraceEvent& fields) {
  return "block_rq_complete: " + Device(fields.dev()) + " " + OneLine(fields.rwbs()) +
         Format(" () %" PRIu64 " + %u [%d]", fields.sector(), fields.nr_sector(), fields.error());
}

std::string Fields(const FtraceEvent& event) {
  if (event.has_print()) return "tracing_mark_write: " + OneLine(event.print().buf());
  if (event.has_sched_switch()) return Switch(event.sched_switch());
  if (event.has_sched_waking()) return Wakeup("sched_waking", event.sched_waking());
  if (event.has_sched_wakeup()) return Wakeup("sched_wakeup", event.sched_wakeup());
  if (event.has_sched_wakeup_new()) return Wakeup("sched_wakeup_new", event.sched_wakeup_new());
  if (event.has_sched_process_exit()) {
    const traceproto::SchedProcessExitFtraceEvent& fields = event.sched_process_exit();
    return "sched_process_exit: comm=" + OneLine(fields.comm()) +
           Format(" pid=%d prio=%d", fields.pid(), fields.prio());
  }
  if (event.has_block_rq_issue()) return BlockIssue(event.block_rq_issue());
  if (event.has_block_rq_complete()) return BlockComplete(event.block_rq_complete());
  if (event.has_task_rename()) {
    const traceproto::TaskRenameFtraceEvent& fields = event.task_rename();
    return Format("task_rename: pid=%d oldcomm=", fields.pid()) + OneLine(fields.oldcomm()) +
           " newcomm=" + OneLine(fields.newcomm()) +
           Format(" oom_score_adj=%d", fields.oom_score_adj());
  }
  if (event.has_task_newtask()) {
    const traceproto::TaskNewtaskFtraceEvent& fields = event.task_newtask();
    return Format("task_newtask: pid=%d comm=", fields.pid()) + OneLine(fields.comm()) +
           Format(" clone_flags=%" PRIx64 " oom_score_adj=%d", fields.clone_flags(),
                  fields.oom_score_adj());
  }
  return {};
}

}  // namespace

std::string TraceLine(const CapturedEvent& event) {
  const std::string fields = Fields(event.event());
  if (fields.empty()) return {};
  return Head(event.comm(), event.event().pid(), event.tgid(), event.cpu(),
              event.event().timestamp()) +
         fields;
}

std::string TraceLine(const MarkerLine& marker) {
  return Head(marker.comm, static_cast<uint32_t>(marker.tid), marker.tgid, 0, marker.ns) +
         "tracing_mark_write: " + OneLine(marker.text);
}

}  // namespace jankbox::tools
