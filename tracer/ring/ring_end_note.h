// What the process writes into its ring's header before it ends without a stop: recovery tells an
// orderly end from a crash by it. Any thread; NO-ALLOC, no lock, no system call, SIGNAL-SAFE.
#ifndef JANKBOX_TRACER_RING_RING_END_NOTE_H_
#define JANKBOX_TRACER_RING_RING_END_NOTE_H_

#include "tracer/ring/ring_format.h"

namespace jankbox {

class RingEndNote {
 public:
  // The process ends by _exit() and the like, or is about to execute another program.
  static void Exits(const RingHeader* ring);
  // It could not execute that program, and goes on. A stop that came meanwhile stays.
  static void Stays(const RingHeader* ring);

  // A call is about to end the process with `signal`. One thread of several wins; all end.
  static void BeginCall(const RingHeader* ring, RingEndCall call, int signal, uint64_t now_ticks);
  // It returned.
  static void EndCall(const RingHeader* ring);
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_RING_END_NOTE_H_
