#include "monitors/incident/watched_thread_view.h"

#include "tracer/ring/ring_reader.h"
#include "tracer/ring/word_text.h"

namespace jankbox {
namespace {

constexpr int kAttempts = 100;

// Empty if the thread has none, or gives itself another one whenever it is read.
std::string OwnLoopName(const RingWatchedThread& thread) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const uint32_t version = thread.loop_name_version.load(std::memory_order_acquire);
    if (version % 2 != 0) continue;
    std::string name = ReadWordText(thread.loop_name);
    std::atomic_thread_fence(std::memory_order_acquire);  // pairs with WatchedSlot::StoreLoopName
    if (thread.loop_name_version.load(std::memory_order_relaxed) == version) return name;
  }
  return "";
}

}  // namespace

std::string LoopNameOf(const RingHeader& ring, size_t index) {
  std::string name = index < kMaxWatchedThreads ? OwnLoopName(ring.watched[index]) : "";
  return name.empty() ? ReadWordText(ring.loop_name) : name;
}

std::optional<RunningDispatch> WatchedThreadView::ReadRunning(const TickConverter& clock) const {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const uint64_t begin = thread_->dispatch_begin_ticks.load(std::memory_order_acquire);
    if (begin == 0) return std::nullopt;
    RunningDispatch dispatch = {begin, clock.ToMonotonicNs(begin), DispatchNameText(thread_->what)};
    std::atomic_thread_fence(std::memory_order_acquire);
    // The next dispatch stores its name before its start: an unchanged begin vouches for the name.
    if (thread_->dispatch_begin_ticks.load(std::memory_order_relaxed) == begin) return dispatch;
  }
  return std::nullopt;  // it changes so fast that nothing is overdue
}

std::optional<SlowDispatch> WatchedThreadView::TakeSlow(const TickConverter& clock) {
  const uint32_t version = thread_->slow_version.load(std::memory_order_acquire);
  if (version == seen_slow_version_ || version % 2 != 0) return std::nullopt;
  const uint64_t begin_ticks = thread_->slow_begin_ticks.load(std::memory_order_relaxed);
  const uint64_t end_ticks = thread_->slow_end_ticks.load(std::memory_order_relaxed);
  SlowDispatch slow;
  slow.begin_ticks = begin_ticks;
  slow.begin_ns = clock.ToMonotonicNs(begin_ticks);
  slow.end_ns = clock.ToMonotonicNs(end_ticks);
  slow.what = DispatchNameText(thread_->slow_what);
  slow.total_ticks = thread_->slow_total_ticks.load(std::memory_order_relaxed);
  std::atomic_thread_fence(
      std::memory_order_acquire);  // pairs with the fence in WatchedSlot::NoteSlow
  if (thread_->slow_version.load(std::memory_order_relaxed) != version) return std::nullopt;
  slow.version = version;
  slow.own_ticks = end_ticks - begin_ticks;
  slow.missed = (version - seen_slow_version_) / 2 - 1;
  const uint64_t missed_ticks = slow.total_ticks - seen_total_ticks_ - slow.own_ticks;
  if (slow.missed != 0) {
    slow.missed_ns = static_cast<uint64_t>(static_cast<double>(missed_ticks) * clock.ns_per_tick());
  }
  seen_slow_version_ = version;
  seen_total_ticks_ = slow.total_ticks;
  return slow;
}

}  // namespace jankbox
