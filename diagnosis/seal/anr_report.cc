#include "diagnosis/seal/anr_report.h"

#include <algorithm>

namespace jankbox {
namespace {

// "the lock is held by thread keeper (12), which is asleep in usleep"; empty if the owner is
// unknown.
std::string OwnerNote(const std::vector<ReportThreadAtAnr>& threads) {
  if (threads.empty() || threads[0].waits_for_tid == 0) return "";
  const auto owner = std::find_if(
      threads.begin(), threads.end(),
      [&](const ReportThreadAtAnr& thread) { return thread.tid == threads[0].waits_for_tid; });
  if (owner == threads.end()) return "";
  std::string note = "the lock that thread " + threads[0].name + " (" +
                     std::to_string(threads[0].tid) + ") waits for belongs to thread " +
                     owner->name + " (" + std::to_string(owner->tid) + "), state: " + owner->wait;
  for (const ReportFrame& frame : owner->frames) {
    if (frame.function.empty()) continue;
    return note + ", in " + frame.function + ".";
  }
  return note + ".";
}

}  // namespace

void TellAnrThreads(const SealRequest& request, const RingWindow& window, const FrameTable& frames,
                    uint64_t begin_ticks, Report* report) {
  if (request.kind != ReportKind::kAnr && request.kind != ReportKind::kRecovered) return;
  std::vector<std::string> deadlocks = DeadlocksOf(window, begin_ticks);
  if (request.threads != nullptr) {
    report->threads = ToReport(*request.threads, frames);
    report->threads_without_stack = request.threads->left_out;
    report->threads_not_listed = request.threads->not_listed;
    deadlocks = request.threads->deadlocks;
  }
  for (const std::string& deadlock : deadlocks) {
    report->verdict.summary += (report->verdict.summary.empty() ? "" : "; ") + deadlock;
    report->notes.push_back(deadlock);
  }
  const std::string owner = OwnerNote(report->threads);
  if (!owner.empty()) report->notes.push_back(owner);
}

}  // namespace jankbox
