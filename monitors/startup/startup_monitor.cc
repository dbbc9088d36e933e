#include "monitors/startup/startup_monitor.h"

namespace jankbox {

StartupMonitor::StartupMonitor(uint64_t process_ns, uint64_t recorder_ns) {
  current_.emplace();
  current_->begin_ns = process_ns;
  current_->recorder_ns = recorder_ns;
}

void StartupMonitor::OnDispatch(uint64_t begin_ns) {
  if (!current_ || current_->first_dispatch_ns != 0 || begin_ns < current_->begin_ns) return;
  current_->first_dispatch_ns = begin_ns;
}

void StartupMonitor::OnFrame(uint64_t end_ns) {
  if (!current_ || current_->first_frame_ns != 0 || end_ns < current_->begin_ns) return;
  current_->first_frame_ns = end_ns;
}

void StartupMonitor::OnDrawn(uint64_t now_ns) {
  says_drawn_ = true;
  if (current_ && current_->drawn_ns == 0) current_->drawn_ns = now_ns;
}

void StartupMonitor::OnForeground(bool in_front, uint64_t now_ns) {
  if (!in_front) {
    current_.reset();
    return;
  }
  if (current_) return;  // the cold start still goes on
  current_.emplace();
  current_->cold = false;
  current_->begin_ns = now_ns;
}

std::optional<StartupTimes> StartupMonitor::TakeFinished(uint64_t now_ns) {
  if (!current_ || current_->end_ns() == 0) return std::nullopt;
  const bool waits =
      current_->drawn_ns == 0 && says_drawn_ && now_ns < current_->first_frame_ns + kDrawnWithinNs;
  if (waits) return std::nullopt;
  std::optional<StartupTimes> finished = current_;
  current_.reset();
  return finished;
}

}  // namespace jankbox
