// The process's recorder: the gate that turns recording on and off, and the per-thread cursors
// behind event_sink.h. Open() and Close() are cold and come from one thread at a time (sdk/src).
// FORK: the gate lies in a page that is wiped in a child, so a child records nothing.
#ifndef JANKBOX_TRACER_RING_RECORDER_H_
#define JANKBOX_TRACER_RING_RECORDER_H_

#include "base/status.h"
#include "tracer/event/event_sink.h"
#include "tracer/ring/ring_file.h"

namespace jankbox {

class Recorder {
 public:
  // Starts recording into `ring`, which must stay mapped until another ring has been opened and
  // every thread has left its hot path: callers keep a closed ring mapped.
  static Status Open(RingFile* ring);

  // Stops recording: later events are dropped silently.
  static void Close();

  // The ring that is recorded into; null while recording is off and in a forked child. HOT.
  static RingHeader* ActiveRing();

  // Closes chunks whose threads died without running their destructors. On the watcher thread.
  static void ReclaimChunksOfDeadThreads(RingFile* ring);
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_RECORDER_H_
