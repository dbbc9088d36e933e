// What the process writes into its ring's header before it ends without a stop: recovery tells an
// orderly end from a crash by it. Any thread; NO-ALLOC, no lock, no system call, SIGNAL-SAFE.
#ifndef JANKBOX_TRACER_RING_RING_END_NOTE_H_
#define JANKBOX_TRACER_RING_RING_END_NOTE_H_

#include <cstdint>

#include "tracer/ring/ring_format.h"

namespace jankbox {

class RingEndNote {
 public:
  // The process ends by _exit() and the like, or is about to execute another program. False if its
  // end is noted already: what follows abort(), in the handler of its signal, is that end's.
  static bool Exits(const RingHeader* ring) {
    const auto abort = static_cast<uint32_t>(RingEndCall::kAbort);
    if (ring->end_call.load(std::memory_order_relaxed) == abort) return false;
    return Change(ring, RingEnd::kNone, RingEnd::kExited);
  }
  // It could not execute that program, and goes on. A stop that came meanwhile stays.
  static void Stays(const RingHeader* ring) { Change(ring, RingEnd::kExited, RingEnd::kNone); }

  // A call is about to end the process with `signal`. One thread of several wins; all end.
  static void BeginCall(const RingHeader* ring, RingEndCall call, int signal, uint64_t now_ticks) {
    RingHeader* const header = Writable(ring);
    header->end_signal.store(static_cast<uint32_t>(signal), std::memory_order_relaxed);
    header->end_call_ticks.store(now_ticks, std::memory_order_relaxed);
    header->end_call.store(static_cast<uint32_t>(call), std::memory_order_release);
  }
  // It returned.
  static void EndCall(const RingHeader* ring) {
    Writable(ring)->end_call.store(static_cast<uint32_t>(RingEndCall::kNone),
                                   std::memory_order_release);
  }

 private:
  // Read-only for everyone but tracer/ring.
  static RingHeader* Writable(const RingHeader* ring) { return const_cast<RingHeader*>(ring); }
  static bool Change(const RingHeader* ring, RingEnd from, RingEnd to) {
    auto expected = static_cast<uint32_t>(from);
    return Writable(ring)->closed.compare_exchange_strong(
        expected, static_cast<uint32_t>(to), std::memory_order_release, std::memory_order_relaxed);
  }
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_RING_END_NOTE_H_
