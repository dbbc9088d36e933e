// What is sealed on threads of normal priority: an ANR while it lasts, and the rest at a stop.
#include <pthread.h>

#include <utility>

#include "base/clock.h"
#include "base/own_thread.h"
#include "sdk/runtime/sealer.h"
#include "tracer/hook/reentry_guard.h"

namespace jankbox {

bool Sealer::EnqueueUrgent(SealRequest* request) {
  if (stop_ || urgent_.size() >= kMaxUrgent) return false;
  if (!has_urgent_) {
    // It has ended, or is about to: it needs mutex_ no more.
    if (urgent_joinable_) pthread_join(urgent_thread_, nullptr);
    const auto run = [](void* sealer) -> void* {
      NameCurrentThread("jankbox-urgent");
      ReentryGuard::ExcludeThread();
      static_cast<Sealer*>(sealer)->SealUrgent();
      return nullptr;
    };
    ScopedSignalBlock no_signals;
    urgent_joinable_ = pthread_create(&urgent_thread_, nullptr, run, this) == 0;
    if (!urgent_joinable_) return false;
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

void Sealer::JoinUrgent() {
  if (std::exchange(urgent_joinable_, false)) pthread_join(urgent_thread_, nullptr);
}

// On a new thread: the priority of the first one cannot be raised again, and somebody waits now.
void Sealer::SealRest(uint64_t deadline_ns) {
  struct Rest {
    Sealer* sealer;
    uint64_t deadline_ns;
  } rest = {this, deadline_ns};
  const auto run = [](void* argument) -> void* {
    const Rest& given = *static_cast<Rest*>(argument);
    NameCurrentThread("jankbox-seal");
    ReentryGuard::ExcludeThread();
    given.sealer->SealUntil(given.deadline_ns);
    return nullptr;
  };
  ScopedSignalBlock no_signals;
  pthread_t thread;
  if (pthread_create(&thread, nullptr, run, &rest) != 0) return;  // recovery has it
  pthread_join(thread, nullptr);
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
