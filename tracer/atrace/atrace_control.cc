#include "tracer/atrace/atrace_control.h"

#include <fcntl.h>

#include <atomic>

#include "base/clock.h"
#include "tracer/atrace/atrace_tags.h"

namespace jankbox {
namespace {

constexpr uint64_t kSettleNs = 5 * kNsPerSecond;

std::atomic<int> g_lent_fd{-1};

}  // namespace

uint64_t AtraceControl::Start(uint64_t wanted, uint64_t library_tags) {
  if (started_) return 0;
  const uint64_t begin_ns = MonotonicNs();
  // First, as its first marker would compute the tags and overwrite ours.
  if (symbols_.setup != nullptr) symbols_.setup();
  started_ = true;
  added_ = 0;
  settled_at_ns_ = 0;
  wanted_ = wanted & kValidTags;
  library_tags_ = library_tags;
  Apply();
  return MonotonicNs() - begin_ns;
}

void AtraceControl::Update(uint64_t wanted, uint64_t library_tags, uint64_t now_ns) {
  if (!started_) return;
  if (symbols_.refresh != nullptr) symbols_.refresh();
  wanted_ = wanted & kValidTags;
  library_tags_ = library_tags;
  settled_at_ns_ = now_ns + kSettleNs;
  Apply();
}

void AtraceControl::Look(uint64_t now_ns) {
  if (!started_) return;
  const uint64_t now = tags();
  const bool overwritten =
      now_ns < settled_at_ns_ && now == library_tags_ && (library_tags_ & kTagAlways) != 0;
  if (overwritten || pending_) {
    Apply();
  } else {
    added_ &= now;
  }
}

void AtraceControl::Stop() {
  if (!started_) return;
  started_ = false;
  uint64_t now = tags();
  while (!IsTaken(now) && (now & added_) != 0 &&
         !__atomic_compare_exchange_n(symbols_.enabled_tags, &now, now & ~added_, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  added_ = 0;
  TakeBackMarkerFd(symbols_.marker_fd);
}

void AtraceControl::Apply() {
  pending_ = true;
  if (not_ready()) return;
  // The marker first: from the tags on, the app's threads write to it.
  if (!LendMarkerFd(symbols_.marker_fd)) return;
  const uint64_t no_more = added_ & ~wanted_ & ~library_tags_;
  uint64_t before = tags();
  while (!IsTaken(before) &&
         !__atomic_compare_exchange_n(symbols_.enabled_tags, &before, (before & ~no_more) | wanted_,
                                      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  added_ = (added_ | (wanted_ & ~before)) & wanted_ & ~library_tags_;
  pending_ = IsTaken(before);
}

bool LendMarkerFd(int* marker_fd) {
  if (__atomic_load_n(marker_fd, __ATOMIC_RELAXED) != -1) return true;
  int lent = g_lent_fd.load(std::memory_order_relaxed);
  if (lent == -1) {
    lent = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (lent == -1) return false;
    g_lent_fd.store(lent, std::memory_order_relaxed);
  }
  int none = -1;
  __atomic_compare_exchange_n(marker_fd, &none, lent, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return true;
}

void TakeBackMarkerFd(int* marker_fd) {
  int lent = LentMarkerFd();
  if (lent == -1) return;
  __atomic_compare_exchange_n(marker_fd, &lent, -1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

int LentMarkerFd() { return g_lent_fd.load(std::memory_order_relaxed); }

}  // namespace jankbox
