// Events of threads, written by those threads and read by the watcher, which writes it into the
// ring: a thread that is created, named or ended needs no chunk of its own. A fixed number of
// notes; if none is free the event is dropped, counted. Writers: LOCK-FREE, NO-ALLOC,
// SIGNAL-SAFE. One reader. FORK: ForgetInChild().
#ifndef JANKBOX_TRACER_INTERPOSE_THREAD_JOURNAL_H_
#define JANKBOX_TRACER_INTERPOSE_THREAD_JOURNAL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/event/thread_event.h"
#include "tracer/event/watcher_wake.h"
#include "tracer/interpose/creation_stack.h"

namespace jankbox {

struct alignas(64) ThreadNote {
  enum State : uint32_t { kFree, kTaken, kReady };

  std::atomic<uint32_t> state{kFree};
  ThreadEvent event;
  // Of a creation, on its way from the parent to the child.
  void* (*routine)(void*) = nullptr;
  void* argument = nullptr;
  CreationStack* stack = nullptr;  // null: none was copied
};

class ThreadJournal {
 public:
  static constexpr size_t kNotes = 512;

  // A note to fill; null if none is free. It is the caller's until Publish() or Release().
  static ThreadNote* Take();
  static void Publish(ThreadNote* note) {
    note->state.store(ThreadNote::kReady, std::memory_order_release);  // pairs with Drain()
    ready_.store(true, std::memory_order_release);
    WatcherWake::OnActivity();
  }
  static void Release(ThreadNote* note);

  // Passes every note that is ready and frees it. Only the watcher.
  template <typename Visit>
  static void Drain(Visit visit) {
    // Pairs with Publish(): who is missed now has set it again for the next time.
    if (!ready_.load(std::memory_order_relaxed)) return;
    ready_.exchange(false, std::memory_order_acq_rel);
    for (size_t i = 0; i < kNotes; ++i) {
      ThreadNote& note = notes_[i];
      if (note.state.load(std::memory_order_acquire) != ThreadNote::kReady) continue;
      visit(const_cast<const ThreadNote&>(note));
      Release(&note);
    }
  }

  // Events that were dropped since the last call.
  static uint64_t TakeDropped();

  // In a forked child that starts a recording of its own: frees the notes of its parent's threads.
  static void ForgetInChild();

 private:
  static ThreadNote notes_[kNotes];
  static std::atomic<bool> ready_;  // some note may be
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_THREAD_JOURNAL_H_
