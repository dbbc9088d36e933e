// Around what a proxy does besides calling on: on each thread a feature's proxies are inside once.
// A call that comes meanwhile (Jankbox's, or of a signal handler) goes straight to the original.
// HOT, NO-ALLOC, SIGNAL-SAFE; errno is the same after the guard as before it. FORK, vfork: the
// child goes on as the thread that forked. A body that is left by siglongjmp() leaves its feature
// blind on that thread, no worse.
//
//   { ReentryGuard guard(HookFeature::kIo); if (guard.entered()) NoteBegin(); }
//   const ssize_t result = real(…);    // not guarded: its errno counts, and it may never return
//   { ReentryGuard guard(HookFeature::kIo); if (guard.entered()) NoteEnd(); }
#ifndef JANKBOX_TRACER_HOOK_REENTRY_GUARD_H_
#define JANKBOX_TRACER_HOOK_REENTRY_GUARD_H_

#include <cerrno>

#include "tracer/hook/hook_ids.h"
#include "tracer/hook/reentry_slot.h"

namespace jankbox {

template <typename Slot>
class BasicReentryGuard {
 public:
  explicit BasicReentryGuard(HookFeature feature) {
    if (!Slot::Usable()) return;
    const uint32_t inside = Slot::Get();
    const uint32_t bit = 1u << static_cast<uint8_t>(feature);
    if ((inside & bit) != 0) return;
    // A handler that interrupts between reading and writing leaves the word as it found it.
    Slot::Set(inside | bit);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    bit_ = bit;
    saved_errno_ = errno;
  }

  ~BasicReentryGuard() {
    if (bit_ == 0) return;
    errno = saved_errno_;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    Slot::Set(Slot::Get() & ~bit_);
  }

  BasicReentryGuard(const BasicReentryGuard&) = delete;
  BasicReentryGuard& operator=(const BasicReentryGuard&) = delete;

  // False: call on, and do nothing else.
  bool entered() const { return bit_ != 0; }

  // Jankbox's own threads: no feature ever sees a call of the calling thread.
  static void ExcludeThread() {
    if (Slot::Usable()) Slot::Set(~0u);
  }

 private:
  uint32_t bit_ = 0;
  int saved_errno_ = 0;
};

// REQUIRES ReentrySlot::Prepare() before hooks are installed; HookSet::Add() does it.
#if defined(__ANDROID__)
using ReentrySlot = PthreadKeySlot;
#else
using ReentrySlot = InitialExecSlot;
#endif
using ReentryGuard = BasicReentryGuard<ReentrySlot>;

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_REENTRY_GUARD_H_
