// What is sealed on threads of normal priority: an ANR while it lasts, and the rest at a stop.
#include <utility>

#include "base/clock.h"
#include "base/own_thread.h"
#include "sdk/runtime/sealer.h"
#include "tracer/hook/reentry_guard.h"

namespace jankbox {

bool Sealer::EnqueueUrgent(SealRequest* request) {
  if (stop_ || urgent_.size() >= kMaxUrgent) return false;
  if (!has_urgent_) {
    urgent_thread_.Join(UINT64_MAX);  // it has ended, or is about to: it needs mutex_ no more
    const auto run = [this] {
      NameCurrentThread("jankbox-urgent");
      ReentryGuard::ExcludeThread();
      SealUrgent();
    };
    if (!urgent_thread_.Start(run)) return false;
    has_urgent_ = true;
  }
  urgent_.push_back(std::move(*request));
  return true;
}

void Sealer::SealUrgent() {
  MutexLock sealing(&sealing_);
  while (const std::optional<SealRequest> request = TakeUrgent()) {
    SealOrKeep(*request);
    urgent_cpu_ns_.store(urgent_cpu_before_ns_ + ClockNs(CLOCK_THREAD_CPUTIME_ID),
                         std::memory_order_relaxed);
  }
  urgent_cpu_before_ns_ = urgent_cpu_ns_.load(std::memory_order_relaxed);
}

std::optional<SealRequest> Sealer::TakeUrgent() {
  MutexLock lock(&mutex_);
  if (urgent_.empty()) {
    if (queue_.empty() && !busy_) buffer_.reset();
    has_urgent_ = false;
    changed_.NotifyAll();
    return std::nullopt;
  }
  SealRequest request = std::move(urgent_.front());
  urgent_.pop_front();
  return request;
}

// On a new thread: the priority of the first one cannot be raised again, and somebody waits now.
void Sealer::SealRest(uint64_t deadline_ns) {
  const auto run = [this, deadline_ns] {
    NameCurrentThread("jankbox-seal");
    ReentryGuard::ExcludeThread();
    SealUntil(deadline_ns);
  };
  if (!rest_thread_.Start(run)) return;  // recovery has it
  if (!rest_thread_.Join(deadline_ns)) {
    stopping_.store(true, std::memory_order_relaxed);
    left_behind_.store(true, std::memory_order_relaxed);
    return;
  }
  MutexLock lock(&mutex_);
  busy_ = false;
  changed_.NotifyAll();  // who waits in WaitIdle()
}

void Sealer::SealUntil(uint64_t deadline_ns) {
  MutexLock sealing(&sealing_);
  while (MonotonicNs() < deadline_ns) {
    const std::optional<SealRequest> request = TakeRequest();
    if (!request) break;
    SealOne(*request);
  }
  counts_.Close();
}

}  // namespace jankbox
