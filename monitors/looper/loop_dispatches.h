// Reports to a recorder the dispatches that one thread's waits delimit, and the name of its loop.
// Used by the preload agent (the recorder is loaded later, by dlopen) and by the SDK's own hooks.
// HOT: called around each wait of one thread, by that thread; NO-ALLOC, no lock, no system call.
#ifndef JANKBOX_MONITORS_LOOPER_LOOP_DISPATCHES_H_
#define JANKBOX_MONITORS_LOOPER_LOOP_DISPATCHES_H_

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "base/phase_names.h"
#include "monitors/looper/loop_waits.h"

namespace jankbox {

// The recorder's calls, as in jankbox.h.
struct DispatchCalls {
  void (*begin)(const char* what, uint64_t begin_ns);  // 0: now
  void (*end)();
  // The name of the calling thread's loop; the text stays valid.
  void (*name_loop)(const char* name);
};

// How long the waits were that were taken for the loop's because the model was not sure: the first
// ones, in milliseconds.
class GuessedWaits {
 public:
  void Add(uint64_t waited_ns) {
    if (count_ < kMax) waited_ms_[count_++] = static_cast<uint32_t>(waited_ns / kNsPerMs);
  }
  std::span<const uint32_t> waited_ms() const { return {waited_ms_, count_}; }

 private:
  static constexpr uint32_t kMax = 16;
  uint32_t waited_ms_[kMax] = {};
  uint32_t count_ = 0;
};

class LoopDispatches {
 public:
  // As a slow message: what is over sooner is no incident.
  static constexpr uint64_t kQuickStartUpNs = 100 * kNsPerMs;
  // After its first glance a program that waits for something else still starts up; a longer one is
  // blocked, perhaps for good.
  static constexpr uint64_t kSlowStartUpNs = kNsPerSecond;

  // Before a wait. True if it is the loop's own, or the first sign of a UI that starts up: then
  // OnWaitDone() follows it. `calls` is null until the recorder is ready.
  bool OnWait(const WaitCall& call, const DispatchCalls* calls) {
    const LoopModule module = LoopModules::Find(call.call_site);
    if (module.IsOfDisplay()) __atomic_store_n(&asks_, true, __ATOMIC_RELAXED);
    if (waits_.DecideWait(call, module)) {
      Finish(calls);
      what_ = nullptr;
      guess_began_ns_ = waits_.guessed() ? MonotonicNs() : 0;
      return true;
    }
    if (starts_up() && MayBecomeTheLoop(call, module)) {
      Finish(calls);
      start_up_over_ = true;
      return false;
    }
    // A program with a main loop's library that talks to its display is about to show a UI: what it
    // does until its loop waits for the first time blocks that as a dispatch does.
    const bool starts_up = module.kind == LoopModuleKind::kDisplay && loop_name()[0] == '\0' &&
                           begin_ns_ == 0 && !start_up_over_ && LoopModules::HasLoopLibrary();
    if (starts_up) what_ = kStartUpName;
    return starts_up;
  }

  void OnWaitDone(const DispatchCalls* calls) {
    begin_ns_ = MonotonicNs();
    if (guess_began_ns_ != 0) guessed_waits_.Add(begin_ns_ - guess_began_ns_);
    guess_began_ns_ = 0;
    announced_ = calls != nullptr;
    if (!announced_) return;
    TellName(calls);
    calls->begin(what_, 0);
  }

  // The recorder has become ready while a dispatch runs: it hears of it now, so that it can look at
  // the thread. On that thread.
  void Announce(const DispatchCalls* calls) {
    if (begin_ns_ == 0 || announced_ || calls == nullptr) return;
    TellName(calls);
    calls->begin(what_, begin_ns_);
    announced_ = true;
  }

  // Is it time to start the recorder, if there is none yet? `own` is what OnWait() said. The
  // recorder's threads take from a process the shortcuts that the C library takes while it has a
  // single one, in getc() and malloc(): a start-up that is over soon is left those. A program that
  // only looks for messages, without waiting for one, may still start up.
  bool NeedsRecorder(const WaitCall& call, bool own) {
    if (what_ != kStartUpName) {
      const bool glances = call.returns_at_once && HasOneThread();
      if (own && !glances) return true;
      if (!own && first_glance_ns_ == 0) return false;
      const uint64_t now_ns = MonotonicNs();
      if (first_glance_ns_ == 0) first_glance_ns_ = now_ns;
      return now_ns - first_glance_ns_ >= (own ? kQuickStartUpNs : kSlowStartUpNs);
    }
    if (start_up_over_ || !HasOneThread()) return true;
    return begin_ns_ != 0 && MonotonicNs() - begin_ns_ >= kQuickStartUpNs;
  }

  // How long the start-up was if it ended before the recorder was ready; 0: it did not.
  uint64_t unrecorded_start_up_ns() const { return unrecorded_start_up_ns_; }

  // The program starts: what it does until its loop waits for the first time is one dispatch.
  void BeginStartUp(const DispatchCalls* calls) {
    what_ = kStartUpName;
    OnWaitDone(calls);
  }

  // The running dispatch, if any, ends: at the loop's next wait, or with the program.
  void Finish(const DispatchCalls* calls) {
    Announce(calls);
    if (!announced_ && (starts_up() || first_glance_ns_ != 0)) NoteUnrecorded();
    if (announced_ && calls != nullptr) calls->end();
    begin_ns_ = 0;
    announced_ = false;
  }

  // The program ends: what runs is its exit, and no message of a loop. On that thread.
  void NameExit(const DispatchCalls* calls) {
    if (begin_ns_ == 0 || what_ != nullptr) return;
    Announce(calls);
    what_ = kExitName;
    if (announced_ && calls != nullptr) calls->begin(what_, 0);  // lends its name to the rest
  }

  // What runs is a start-up, and no loop has waited yet.
  bool starts_up() const { return begin_ns_ != 0 && what_ == kStartUpName; }

  const char* loop_name() const { return waits_.loop_name(); }
  // Any thread.
  LoopWaits::Awaited awaited() const { return waits_.awaited(); }
  // It has waited for an answer of the display's server. Any thread.
  bool asks_display() const { return __atomic_load_n(&asks_, __ATOMIC_RELAXED); }
  const GuessedWaits& guessed_waits() const { return guessed_waits_; }

 private:
  void NoteUnrecorded() {
    if (begin_ns_ == 0) return;
    unrecorded_start_up_ns_ = std::max(unrecorded_start_up_ns_, MonotonicNs() - begin_ns_);
  }

  // False if the C library does not say.
  static bool HasOneThread() {
#if __has_include(<sys/single_threaded.h>)
    return __libc_single_threaded != 0;
#else
    return false;
#endif
  }

  // A program's own loop is known at its third wait only: the first one ends the start-up.
  static bool MayBecomeTheLoop(const WaitCall& call, LoopModule module) {
    const bool of_program =
        module.kind == LoopModuleKind::kOther || module.kind == LoopModuleKind::kMixed;
    return of_program && !call.returns_at_once && call.family != WaitFamily::kRead;
  }

  void TellName(const DispatchCalls* calls) {
    const char* name = waits_.reported_name();
    if (name == told_name_ || name[0] == '\0') return;
    told_name_ = name;
    calls->name_loop(name);
  }

  LoopWaits waits_;
  const char* told_name_ = nullptr;
  uint64_t unrecorded_start_up_ns_ = 0;
  GuessedWaits guessed_waits_;
  uint64_t first_glance_ns_ = 0;  // a loop's wait that returned at once, before the recorder
  uint64_t guess_began_ns_ = 0;   // of a wait that is only guessed to be the loop's; 0: none
  uint64_t begin_ns_ = 0;       // of the running dispatch; 0: the loop waits, or there is none yet
  const char* what_ = nullptr;  // its name; null: unknown
  bool announced_ = false;      // the recorder knows of it
  bool start_up_over_ = false;  // by a wait that was perhaps the first of a loop
  bool asks_ = false;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_LOOP_DISPATCHES_H_
