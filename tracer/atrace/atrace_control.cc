#include "tracer/atrace/atrace_control.h"

#include "base/clock.h"
#include "tracer/atrace/atrace_tags.h"

namespace jankbox {
namespace {

constexpr uint64_t kSettleNs = 5 * kNsPerSecond;

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
}

void AtraceControl::Apply() {
  pending_ = true;
  if (not_ready()) return;
  const uint64_t no_more = added_ & ~wanted_ & ~library_tags_;
  uint64_t before = tags();
  while (!IsTaken(before) &&
         !__atomic_compare_exchange_n(symbols_.enabled_tags, &before, (before & ~no_more) | wanted_,
                                      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  added_ = (added_ | (wanted_ & ~before)) & wanted_ & ~library_tags_;
  pending_ = IsTaken(before);
}

}  // namespace jankbox
