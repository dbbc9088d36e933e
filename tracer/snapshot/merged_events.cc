#include "tracer/snapshot/merged_events.h"

#include <algorithm>

namespace jankbox {
namespace {

bool BelongsToProcess(EventKind kind) {
  return kind == EventKind::kAsyncBegin || kind == EventKind::kAsyncEnd ||
         kind == EventKind::kCounter;
}

}  // namespace

MergedEvents::MergedEvents(const std::vector<const WindowThread*>& threads, uint64_t end_ticks)
    : end_ticks_(end_ticks), heads_(Later{&sources_}) {
  for (const WindowThread* thread : threads) sources_.push_back({.thread = thread});
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (Advance(&sources_[i])) heads_.push(i);
  }
}

bool MergedEvents::Next(EventRecord* record) {
  if (heads_.empty()) return false;
  const size_t index = heads_.top();
  heads_.pop();
  *record = sources_[index].head;
  if (Advance(&sources_[index])) heads_.push(index);
  return true;
}

bool MergedEvents::Advance(Source* source) const {
  const uint64_t last_ticks = source->head.ticks;
  while (true) {
    while (source->cursor && source->cursor->Next(&source->head)) {
      if (!BelongsToProcess(source->head.kind) || source->head.ticks > end_ticks_) continue;
      source->head.ticks = std::max(source->head.ticks, last_ticks);
      return true;
    }
    if (source->next_chunk == source->thread->chunks.size()) return false;
    source->cursor.emplace(source->thread->chunks[source->next_chunk++]);
  }
}

}  // namespace jankbox
