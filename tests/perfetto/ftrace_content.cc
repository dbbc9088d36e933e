#include "tests/perfetto/ftrace_content.h"

#include <algorithm>

namespace jankbox::testing {
namespace {

bool Fail(std::string* error, const std::string& what) {
  *error = what;
  return false;
}

// As the kernel prints it, for kernels since 4.14.
std::string StateName(int64_t state) {
  constexpr char kLetters[] = "SDTtXZPI";
  for (int bit = 0; bit < 8; ++bit) {
    if ((state >> bit & 1) != 0) return std::string(1, kLetters[bit]);
  }
  return state == 0 ? "R" : "R+";
}

}  // namespace

bool FtraceContent::Add(const testproto::FtraceEventBundle& bundle, std::string* error) {
  if (!bundle.has_cpu()) return Fail(error, "ftrace bundle without a CPU");
  std::vector<testproto::FtraceEvent>& events = by_cpu_[bundle.cpu()];
  if (bundle.lost_events()) lossy_cpus_.insert(bundle.cpu());
  // Of two recorders that were joined, each has its own order: importers sort.
  const size_t first = switches_ == Switches::kAll ? 0 : events.size();
  for (const testproto::FtraceEvent& event : bundle.event()) {
    if (!event.has_timestamp() || !event.has_pid())
      return Fail(error, "ftrace event lacks a field");
    if (event.event_case() == testproto::FtraceEvent::EVENT_NOT_SET) {
      return Fail(error, "empty ftrace event");
    }
    if (events.size() > first && event.timestamp() < events.back().timestamp()) {
      return Fail(error, "ftrace events of a CPU are out of order");
    }
    events.push_back(event);
  }
  return true;
}

bool FtraceContent::AddSwitch(uint32_t cpu, const testproto::FtraceEvent& event,
                              TraceContent* content, std::string* error) {
  const testproto::SchedSwitchFtraceEvent& now = event.sched_switch();
  if (!content->sched.empty() && content->sched.back().cpu == cpu) {
    ReadSched& last = content->sched.back();
    const bool known = last.tid == now.prev_pid();
    if (!known && switches_ == Switches::kAll) {
      return Fail(error, "switch from a thread that is not on the CPU");
    }
    last.dur = event.timestamp() - last.ts;
    last.end_state = known ? StateName(now.prev_state()) : "";
    last.open = false;
  }
  content->sched.push_back({.cpu = cpu,
                            .ts = event.timestamp(),
                            .tid = now.next_pid(),
                            .prev_tid = now.prev_pid(),
                            .comm = now.next_comm(),
                            .open = true});
  return true;
}

void FtraceContent::AddBlock(const testproto::FtraceEvent& event, TraceContent* content) {
  if (event.has_block_rq_issue()) {
    const testproto::BlockRqIssueFtraceEvent& issue = event.block_rq_issue();
    // A device whose queue is full refuses a request, and the kernel issues it again.
    const auto [request, is_new] =
        requests_.try_emplace({issue.dev(), issue.sector()}, content->block.size());
    if (!is_new && content->block[request->second].bytes == issue.bytes()) return;
    request->second = content->block.size();
    content->block.push_back({.ts = event.timestamp(),
                              .tid = static_cast<int32_t>(event.pid()),
                              .bytes = issue.bytes(),
                              .open = true});
    return;
  }
  const testproto::BlockRqCompleteFtraceEvent& done = event.block_rq_complete();
  auto it = requests_.find({done.dev(), done.sector()});
  if (it == requests_.end()) return;
  ReadBlockRequest& request = content->block[it->second];
  request.dur = event.timestamp() - request.ts;
  request.open = false;
  requests_.erase(it);
}

bool FtraceContent::Finish(TraceContent* content, std::string* error) {
  if (!by_cpu_.empty() && content->kernel_release.empty()) {
    return Fail(error, "ftrace events without the kernel's version");
  }
  content->lossy_cpus = lossy_cpus_;
  std::vector<testproto::FtraceEvent> block;
  for (auto& [cpu, events] : by_cpu_) {
    std::stable_sort(events.begin(), events.end(),
                     [](const auto& a, const auto& b) { return a.timestamp() < b.timestamp(); });
    content->ftrace_events += events.size();
    for (const testproto::FtraceEvent& event : events) {
      if (event.has_sched_switch() && !AddSwitch(cpu, event, content, error)) return false;
      if (event.has_sched_waking()) {
        content->wakings.push_back(
            {event.timestamp(), event.sched_waking().pid(), static_cast<int32_t>(event.pid())});
      }
      if (event.has_block_rq_issue() || event.has_block_rq_complete()) block.push_back(event);
    }
  }
  std::stable_sort(block.begin(), block.end(),
                   [](const auto& a, const auto& b) { return a.timestamp() < b.timestamp(); });
  for (const testproto::FtraceEvent& event : block) AddBlock(event, content);
  return true;
}

}  // namespace jankbox::testing
