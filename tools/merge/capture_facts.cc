#include "tools/merge/capture_facts.h"

#include <algorithm>
#include <charconv>

#include "tools/merge/marker_text.h"

namespace jankbox::tools {

const char* KindName(const traceproto::FtraceEvent& event) {
  if (event.has_sched_switch()) return "sched_switch";
  if (event.has_sched_waking()) return "sched_waking";
  if (event.has_print()) return "print";
  if (event.has_sched_wakeup()) return "sched_wakeup";
  if (event.has_sched_wakeup_new()) return "sched_wakeup_new";
  if (event.has_sched_process_exit()) return "sched_process_exit";
  if (event.has_block_rq_issue()) return "block_rq_issue";
  if (event.has_block_rq_complete()) return "block_rq_complete";
  if (event.has_task_newtask()) return "task_newtask";
  if (event.has_task_rename()) return "task_rename";
  return "other";
}

void CaptureFactsReader::Take(const traceproto::CapturedEvent& captured) {
  const traceproto::FtraceEvent& event = captured.event();
  const uint64_t stamp = event.timestamp();
  const int32_t tid = static_cast<int32_t>(event.pid());
  facts_.first_stamp = facts_.events == 0 ? stamp : std::min(facts_.first_stamp, stamp);
  facts_.last_stamp = std::max(facts_.last_stamp, stamp);
  ++facts_.kinds[KindName(event)];
  TakeTask(tid, captured.tgid(), captured.comm());
  facts_.has_app_threads |= IsApp(tid);
  if (event.has_print()) TakePrint(captured);
  if (event.has_sched_switch()) TakeSwitch(event);
  if (event.has_sched_waking()) TakeWaking(event);
  ++facts_.events;
}

void CaptureFactsReader::TakePrint(const traceproto::CapturedEvent& captured) {
  const traceproto::FtraceEvent& event = captured.event();
  const int32_t tid = static_cast<int32_t>(event.pid());
  const std::optional<uint64_t> clock_ns = ParseClockText(event.print().buf());
  if (clock_ns && app_.clocks.monotonic_ns != 0) {
    const uint64_t boottime_ns = *clock_ns + (app_.clocks.boottime_ns - app_.clocks.monotonic_ns);
    facts_.clock_pairs.push_back({event.timestamp(), boottime_ns, IsApp(tid)});
  }
  const std::optional<MarkerText> marker = ParseMarkerText(event.print().buf());
  if (!marker) return;
  // Importers take the process of a thread from the start of a slice, too.
  const bool of_app = IsApp(tid) || marker->pid == app_.pid;
  if (marker->pid > 0 && (of_app || marker->kind == 'B')) TakeTask(tid, marker->pid, "");
  if (!of_app) return;
  int64_t value = 0;
  std::from_chars(marker->value.data(), marker->value.data() + marker->value.size(), value);
  facts_.marks.push_back({.stamp = event.timestamp(),
                          .ordinal = facts_.events,
                          .value = value,
                          .name = Name(marker->name),
                          .cpu = captured.cpu(),
                          .pid = marker->pid,
                          .tid = tid,
                          .kind = marker->kind});
}

void CaptureFactsReader::TakeSwitch(const traceproto::FtraceEvent& event) {
  const auto& fields = event.sched_switch();
  TakeTask(fields.prev_pid(), 0, fields.prev_comm());
  TakeTask(fields.next_pid(), 0, fields.next_comm());
  if (IsApp(fields.prev_pid())) {
    facts_.switches.push_back({event.timestamp(), fields.prev_pid(), SwitchPoint::kOff});
    facts_.has_app_threads = true;
  }
  if (IsApp(fields.next_pid())) {
    facts_.switches.push_back({event.timestamp(), fields.next_pid(), SwitchPoint::kOn});
    facts_.has_app_threads = true;
  }
}

void CaptureFactsReader::TakeWaking(const traceproto::FtraceEvent& event) {
  const int32_t tid = event.sched_waking().pid();
  if (IsApp(tid)) facts_.switches.push_back({event.timestamp(), tid, SwitchPoint::kWoken});
}

void CaptureFactsReader::TakeTask(int32_t tid, int32_t tgid, const std::string& comm) {
  if (tid <= 0) return;
  TaskName& task = facts_.tasks[tid];
  if (tgid > 0) task.tgid = tgid;
  if (!comm.empty() && task.comm != comm) task.comm = comm;
}

uint32_t CaptureFactsReader::Name(std::string_view text) {
  const auto [found, added] =
      name_index_.try_emplace(std::string(text), static_cast<uint32_t>(facts_.names.size()));
  if (added) facts_.names.emplace_back(text);
  return found->second;
}

CaptureFacts CaptureFactsReader::Finish() {
  // A bundle has one CPU's events: threads that moved are out of order in the file.
  std::stable_sort(facts_.marks.begin(), facts_.marks.end(),
                   [](const auto& a, const auto& b) { return a.stamp < b.stamp; });
  std::stable_sort(facts_.switches.begin(), facts_.switches.end(),
                   [](const auto& a, const auto& b) { return a.stamp < b.stamp; });
  return std::move(facts_);
}

}  // namespace jankbox::tools
