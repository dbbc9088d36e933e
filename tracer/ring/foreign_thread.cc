#include "tracer/ring/foreign_thread.h"

#include <algorithm>
#include <cstring>

#include "tracer/ring/chunk_writer.h"

namespace jankbox {

ForeignThread::ForeignThread(RingFile* ring, size_t index, int32_t tid, const char* name)
    : ring_(ring), slot_(ring->watched(index)), last_ticks_(ring->header()->clock_at_start.ticks) {
  RingHeader* header = ring->mutable_header();
  cursor_.tid.store(tid, std::memory_order_relaxed);
  cursor_.lane = RingLane::kCalls;
  cursor_.serial = header->next_thread_serial.fetch_add(1, std::memory_order_relaxed);
  memcpy(cursor_.name, name, std::min(strlen(name), sizeof(cursor_.name) - 1));
  header->watched[index].tid.store(tid, std::memory_order_release);
}

ForeignThread::~ForeignThread() {
  if (cursor_.chunk != nullptr) CloseChunk(cursor_, EndOfWords(cursor_), last_ticks_);
  slot_.Release();
}

void ForeignThread::BeginDispatch(uint64_t ticks) {
  Write(EventKind::kDispatchBegin, ticks);
  slot_.BeginDispatch(PaddedName(nullptr), last_ticks_);
}

void ForeignThread::EndDispatch(uint64_t ticks) {
  Write(EventKind::kDispatchEnd, ticks);
  slot_.EndOutermost(last_ticks_);
  slot_.ForgetDispatch();
}

void ForeignThread::ForgetDispatch(uint64_t ticks) {
  Write(EventKind::kDispatchEnd, ticks);
  slot_.ForgetDispatch();
}

void ForeignThread::Write(EventKind kind, uint64_t ticks) {
  last_ticks_ = std::max(ticks, last_ticks_);
  const bool reaches = cursor_.chunk != nullptr &&
                       last_ticks_ - cursor_.base_ticks <= kMaxTickDelta &&
                       cursor_.next.load(std::memory_order_relaxed) + sizeof(uint64_t) <=
                           cursor_.end.load(std::memory_order_relaxed);
  if (!reaches && !Rebase(cursor_, last_ticks_, 1)) {
    const int32_t tid = cursor_.tid.load(std::memory_order_relaxed);
    RingChunk* chunk = ClaimChunk(ring_, {RingLane::kCalls, /*watched=*/true}, tid);
    if (chunk == nullptr) return ring_->AddDroppedEvents(1);
    StartChunk(cursor_, ring_, chunk, /*watched=*/true, last_ticks_);
  }
  StoreWord(TakeWords(&cursor_, 1), MakeEvent(kind, 0, last_ticks_));
}

}  // namespace jankbox
