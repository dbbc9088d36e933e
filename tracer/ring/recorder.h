// The process's recorder: the gate that turns recording on and off, and the per-thread cursors
// for event_sink.h and jankbox/inline.h. Everything here is cold; Open(), Close() and SetMode()
// come from one thread at a time (sdk/runtime). FORK: what says that a recording is on, and every
// cursor, are in pages that are wiped in a child, so a child records nothing.
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

  // How events are recorded from now on; kExact after Open().
  static void SetMode(RecordMode mode);

  // Moves the shared tick of RecordMode::kCoarse to now: when that mode starts, and then every
  // millisecond on one of Jankbox's threads, which notes the longest time that it went unrenewed.
  static void StartCoarseTick();
  static void RenewCoarseTick();

  // The ring that is recorded into; null while recording is off and in a forked child. HOT.
  static const RingHeader* ActiveRing();

  // Closes the chunks and frees the cursors of threads that died without running their destructors.
  // On the watcher thread.
  static void ReclaimDeadThreads(RingFile* ring);
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_RECORDER_H_
