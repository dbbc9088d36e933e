// Writes the dispatches of a thread of another process into a ring of this one: what the thread
// would write itself if Jankbox ran in it, at moments that lie a little in the past. For
// `jankbox attach`; one thread owns it. NO-ALLOC.
#ifndef JANKBOX_TRACER_RING_FOREIGN_THREAD_H_
#define JANKBOX_TRACER_RING_FOREIGN_THREAD_H_

#include <cstddef>
#include <cstdint>

#include "tracer/event/event.h"
#include "tracer/ring/ring_file.h"
#include "tracer/ring/thread_cursor.h"

namespace jankbox {

class ForeignThread {
 public:
  // Takes the slot `index` of `ring`, which outlives it, for thread `tid`. `name` has at most 15
  // bytes.
  ForeignThread(RingFile* ring, size_t index, int32_t tid, const char* name);
  ~ForeignThread();
  ForeignThread(const ForeignThread&) = delete;
  ForeignThread& operator=(const ForeignThread&) = delete;

  // REQUIRES in turns. A moment before that of the last event counts as that.
  void BeginDispatch(uint64_t ticks);
  void EndDispatch(uint64_t ticks);
  // What runs turned out to be no dispatch: it ends, and however long it was, nothing is noted.
  void ForgetDispatch(uint64_t ticks);

  void NameLoop(const char* name) { slot_.NameLoop(name, /*by_app=*/false); }

 private:
  void Write(EventKind kind, uint64_t ticks);

  RingFile* const ring_;
  const WatchedSlot slot_;
  ThreadCursor cursor_{};
  uint64_t last_ticks_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_FOREIGN_THREAD_H_
