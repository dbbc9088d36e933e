#include "tracer/interpose/thread_journal.h"

namespace jankbox {
namespace {

std::atomic<uint32_t> g_next{0};  // the search for a free note starts here
std::atomic<uint64_t> g_dropped{0};

}  // namespace

constinit ThreadNote ThreadJournal::notes_[kNotes];
constinit std::atomic<bool> ThreadJournal::ready_{false};

ThreadNote* ThreadJournal::Take() {
  const uint32_t first = g_next.fetch_add(1, std::memory_order_relaxed);
  for (uint32_t i = 0; i < kNotes; ++i) {
    ThreadNote& note = notes_[(first + i) % kNotes];
    uint32_t free = ThreadNote::kFree;
    // Pairs with Release(): its last user is done.
    if (note.state.compare_exchange_strong(free, ThreadNote::kTaken, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
      return &note;
    }
  }
  g_dropped.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

void ThreadJournal::Release(ThreadNote* note) {
  if (note->stack != nullptr) CreationStacks::Release(note->stack);
  note->stack = nullptr;
  note->state.store(ThreadNote::kFree, std::memory_order_release);
}

uint64_t ThreadJournal::TakeDropped() { return g_dropped.exchange(0, std::memory_order_relaxed); }

void ThreadJournal::ForgetInChild() {
  for (ThreadNote& note : notes_) Release(&note);
}

}  // namespace jankbox
