#include "tracer/snapshot/aside_events.h"

#include <algorithm>

namespace jankbox {
namespace {

bool IsCarried(const EventRecord& record) {
  return record.kind == EventKind::kMarker && (record.id & kCarriedMarker) != 0;
}

}  // namespace

AsideEvents::AsideEvents(const WindowThread& thread) : chunks_(thread.markers) { Advance(); }

// Carried markers are first in a chunk; head_ is then the first record after them.
void AsideEvents::OpenChunk(const WindowChunk& chunk) {
  cursor_.emplace(chunk);
  carried_.clear();
  EventRecord record;
  head_.reset();
  while (cursor_->Next(&record)) {
    if (!IsCarried(record)) {
      head_ = record;
      break;
    }
    carried_.push_back(record);
  }
  next_carried_ = next_chunk_ == 0 ? 0 : carried_.size();
  gap_ = next_chunk_ != 0 && chunk.gap_before;
  if (gap_) last_ticks_ = std::max(last_ticks_, chunk.base_ticks);
}

void AsideEvents::Advance() {
  EventRecord record;
  while (true) {
    if (gap_) {
      ticks_ = last_ticks_;
      return;
    }
    if (next_carried_ < carried_.size()) {
      ticks_ = last_ticks_ = std::max(last_ticks_, carried_[next_carried_].ticks);
      return;
    }
    if (head_) {
      ticks_ = last_ticks_ = std::max(last_ticks_, head_->ticks);
      return;
    }
    if (cursor_ && cursor_->Next(&record)) {
      head_ = record;
      continue;
    }
    if (cursor_ && cursor_->torn()) ++torn_events_;
    if (next_chunk_ == chunks_.size()) {
      cursor_.reset();
      ticks_ = kNever;
      return;
    }
    OpenChunk(chunks_[next_chunk_]);
    ++next_chunk_;
  }
}

EventRecord AsideEvents::Pop() {
  EventRecord record;
  if (gap_) {
    gap_ = false;
  } else if (next_carried_ < carried_.size()) {
    record = carried_[next_carried_++];
  } else {
    record = *head_;
    head_.reset();
  }
  record.ticks = ticks_;
  Advance();
  return record;
}

}  // namespace jankbox
