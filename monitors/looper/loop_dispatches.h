// Tells a recorder of the dispatches that a thread's waits delimit. Used by the preload agent (the
// recorder is loaded later, by dlopen) and by the SDK's own hooks. HOT: called around each wait of
// one thread, by that thread; NO-ALLOC, no lock, no system call.
#ifndef JANKBOX_MONITORS_LOOPER_LOOP_DISPATCHES_H_
#define JANKBOX_MONITORS_LOOPER_LOOP_DISPATCHES_H_

#include <cstdint>

#include "base/clock.h"
#include "monitors/looper/loop_waits.h"

namespace jankbox {

// The recorder's calls, as in jankbox.h.
struct DispatchCalls {
  void (*begin)(const char* what);
  void (*begin_at)(const char* what, uint64_t begin_ns);
  void (*end)();
};

class LoopDispatches {
 public:
  // Before a wait. True where it is the loop's own: then OnWaitDone() follows it. `calls` is null
  // until the recorder is ready.
  bool OnWait(const WaitCall& call, const DispatchCalls* calls) {
    if (!waits_.DecideWait(call, LoopModules::Find(call.call_site))) return false;
    Finish(calls);
    return true;
  }

  void OnWaitDone(const DispatchCalls* calls) {
    begin_ns_ = MonotonicNs();
    announced_ = calls != nullptr;
    if (announced_) calls->begin(nullptr);
  }

  // The running dispatch, if any, ends: at the loop's next wait, or with the program.
  void Finish(const DispatchCalls* calls) {
    if (begin_ns_ != 0 && calls != nullptr) {
      if (!announced_) calls->begin_at(nullptr, begin_ns_);
      calls->end();
    }
    begin_ns_ = 0;
  }

  const char* loop_name() const { return waits_.loop_name(); }

 private:
  LoopWaits waits_;
  uint64_t begin_ns_ = 0;   // of the running dispatch; 0: the loop waits, or there is none yet
  bool announced_ = false;  // the recorder knows of it
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_LOOP_DISPATCHES_H_
