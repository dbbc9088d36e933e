#include "monitors/method/slow_method_finder.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/compact_sort.h"
#include "base/own_thread.h"
#include "tracer/ring/record_modes.h"
#include "tracer/ring/wait_record.h"

namespace jankbox {
namespace {

// A wait that a queue or a loop makes for its next task, as far as its call says. A condition may
// also be that of a result.
bool IsForAnEvent(WaitClass what) {
  return what == WaitClass::kCondition || what == WaitClass::kSemaphore ||
         what == WaitClass::kJoin || what == WaitClass::kFutex;
}

}  // namespace

void SlowMethodFinder::SetRules(uint64_t threshold_ns, bool all_threads) {
  threshold_ns_ = threshold_ns;
  all_threads_ = all_threads;
  next_sequence_ = 0;
  if (threshold_ns != 0) return;
  threads_.clear();
  chunks_.clear();
  since_ticks_ = UINT64_MAX;
}

void SlowMethodFinder::Poll(uint64_t now_ns, const TickConverter& clock) {
  if (threshold_ns_ == 0) return;
  clock_ = clock;
  now_ticks_ = clock.FromMonotonicNs(now_ns);
  least_ticks_ =
      static_cast<uint64_t>(0.99 * static_cast<double>(threshold_ns_) / clock.ns_per_tick());
  if (since_ticks_ == UINT64_MAX) since_ticks_ = now_ticks_;
  if (!ListsAll()) ListChunks();
  MethodJudge* const judge = this;
  for (size_t first = 0, end = 0; first < chunks_.size(); first = end) {
    const ChunkRef& chunk = chunks_[first];
    while (end < chunks_.size() && chunks_[end].serial == chunk.serial) ++end;
    Followed& thread = threads_.try_emplace(chunk.serial, judge).first->second;
    thread.tid = chunk.tid;
    if (!thread.over) Follow(&thread, Chunks(chunks_).subspan(first, end - first));
  }
  RuleOutUnrecorded();
}

// No chunk was taken since they were listed, and the same threads are watched.
bool SlowMethodFinder::ListsAll() const {
  const RingHeader& header = ring_->header();
  if (next_sequence_ != header.next_sequence.load(std::memory_order_acquire)) return false;
  for (size_t i = 0; i < kMaxWatchedThreads; ++i) {
    if (watched_[i] != header.watched[i].tid.load(std::memory_order_relaxed)) return false;
  }
  return true;
}

void SlowMethodFinder::ListChunks() {
  const RingHeader& header = ring_->header();
  // Pairs with the fence in StartChunk(): a thread that has its number is seen to take its chunk.
  next_sequence_ = header.next_sequence.load(std::memory_order_acquire);
  own_tid_ = CurrentTid();
  for (size_t i = 0; i < kMaxWatchedThreads; ++i) {
    watched_[i] = header.watched[i].tid.load(std::memory_order_acquire);
  }
  chunks_.clear();
  bool changing = false;
  for (size_t index = 0; index < ring_->chunk_count(); ++index) {
    const RingChunk& chunk = ring_->chunk(index);
    const uint64_t sequence = chunk.sequence.load(std::memory_order_acquire);
    const ChunkRef ref = {chunk.thread_serial, sequence, index, chunk.thread_chunk_index,
                          chunk.tid};
    const bool calls = chunk.lane == static_cast<uint32_t>(RingLane::kCalls);
    std::atomic_thread_fence(std::memory_order_acquire);
    const bool taken = sequence == 0 && chunk.owner.load(std::memory_order_relaxed) != kNoOwner;
    if (taken || sequence != chunk.sequence.load(std::memory_order_relaxed)) {
      changing = true;
    } else if (sequence != 0 && calls && IsWanted(ref.tid)) {
      chunks_.push_back(ref);
    }
  }
  if (changing) next_sequence_ = 0;
  CompactSort(&chunks_, [](const ChunkRef& a, const ChunkRef& b) {
    return std::tie(a.serial, a.sequence) < std::tie(b.serial, b.sequence);
  });
  // Nothing is left of the others: they ended long ago.
  std::erase_if(threads_, [this](const auto& thread) {
    const auto first = std::lower_bound(
        chunks_.begin(), chunks_.end(), thread.first,
        [](const ChunkRef& chunk, uint64_t serial) { return chunk.serial < serial; });
    return first == chunks_.end() || first->serial != thread.first;
  });
}

bool SlowMethodFinder::IsWanted(int32_t tid) const {
  if (tid == ring_->header().pid) return true;
  if (std::find(watched_.begin(), watched_.end(), tid) != watched_.end()) return true;
  return all_threads_ && tid != own_tid_;  // whose events are stack samples
}

bool SlowMethodFinder::IsWatched(const Followed& thread) const {
  return thread.slot != nullptr || thread.tid == ring_->header().pid;
}

bool SlowMethodFinder::IsOpen(const ChunkRef& chunk) const {
  return ring_->chunk(chunk.index).close_ticks.load(std::memory_order_relaxed) == 0;
}

// The thread has written nothing to the chunk that was read last.
bool SlowMethodFinder::IsUnchanged(const Followed& thread) const {
  const ChunkRef& chunk = thread.chunk;
  return !ring_->HasMoreWords(chunk.index, thread.words) &&
         ring_->chunk(chunk.index).sequence.load(std::memory_order_relaxed) == chunk.sequence;
}

void SlowMethodFinder::Follow(Followed* thread, Chunks chunks) {
  const auto slot = std::find(watched_.begin(), watched_.end(), thread->tid);
  thread->slot =
      slot == watched_.end() ? nullptr : &ring_->header().watched[slot - watched_.begin()];
  current_ = thread;
  const uint64_t dispatches =
      thread->slot == nullptr ? 0 : thread->slot->dispatch_count.load(std::memory_order_relaxed);
  const Chunks to_read = ToRead(*thread, chunks);
  const bool skips = to_read.front().sequence != thread->chunk.sequence;
  // A dispatch may be among what is skipped.
  if (skips && dispatches != thread->dispatches) thread->calls.RuleOut();
  thread->dispatches = dispatches;
  Read(thread, to_read);
  if (thread->chunk.sequence == chunks.back().sequence) Settle(thread);
}

// The chunks from that on which was read last. Only the newest if they are many and no call that
// may be slow has ended in them.
SlowMethodFinder::Chunks SlowMethodFinder::ToRead(const Followed& thread, Chunks chunks) {
  while (chunks.size() > 1 && chunks.front().sequence < thread.chunk.sequence) {
    chunks = chunks.subspan(1);
  }
  const bool polled_late = now_ticks_ - std::min(now_ticks_, thread.seen_ticks) >= least_ticks_;
  if (chunks.size() <= kMostAtOnce || polled_late) return chunks;
  const ChunkRef& newest = chunks.back();
  WindowChunk copy;
  if (!ring_->CopyChunk(newest.index, newest.sequence, words_.data(), &copy)) return chunks;
  const uint64_t latest_begin = copy.base_ticks - std::min(copy.base_ticks, least_ticks_);
  return thread.calls.HasEnded(copy.open_calls, latest_begin) ? chunks : chunks.last(1);
}

void SlowMethodFinder::Read(Followed* thread, Chunks chunks) {
  bool has_all_before = thread->chunk.sequence == 0;  // of the events before the chunk
  for (const ChunkRef& chunk : chunks) {
    const bool same = chunk.sequence == thread->chunk.sequence;
    if (same && IsUnchanged(*thread)) {
      if (IsOpen(chunk)) thread->seen_ticks = now_ticks_;
      has_all_before = true;
      continue;
    }
    WindowChunk copy;
    if (!ring_->CopyChunk(chunk.index, chunk.sequence, words_.data(), &copy)) {
      has_all_before = false;
      continue;
    }
    if (!same) {
      if (copy.base_ticks > now_ticks_) return;
      const uint32_t expected = thread->chunk.sequence == 0 ? 0 : thread->chunk.thread_index + 1;
      if (!has_all_before || chunk.thread_index != expected) {
        thread->calls.Resume(copy.open_calls, copy.open_calls_truncated, thread->seen_ticks);
      }
      thread->chunk = chunk;
      thread->words = 0;
      thread->base_ticks = copy.base_ticks;
      thread->closed = false;
    }
    if (!Apply(thread, copy)) return;
    thread->seen_ticks =
        copy.close_ticks != 0 ? std::min(copy.close_ticks, now_ticks_) : now_ticks_;
    has_all_before = true;
  }
}

// False at the first event after the poll's moment: whether the process was stopped meanwhile is
// not known yet.
bool SlowMethodFinder::Apply(Followed* thread, const WindowChunk& chunk) {
  EventCursor cursor(chunk, thread->words, thread->base_ticks);
  EventRecord record;
  while (cursor.NextCall(&record) || cursor.Next(&record)) {
    if (record.ticks > now_ticks_) return false;
    thread->calls.Apply(record);
    thread->words = cursor.words_read();
    thread->base_ticks = cursor.base_ticks();
  }
  if (cursor.torn()) return true;
  thread->words = cursor.words_read();
  thread->base_ticks = cursor.base_ticks();
  return true;
}

// Of a thread whose newest chunk was read. A chunk that was closed since the chunks were listed may
// have a successor.
void SlowMethodFinder::Settle(Followed* thread) {
  const bool closed = !IsOpen(thread->chunk);
  const auto end_ticks =
      static_cast<uint64_t>(static_cast<double>(kLongestEndNs) / clock_.ns_per_tick());
  const std::optional<uint64_t> since = thread->calls.awaits_confirmation();
  if (!closed && since && now_ticks_ - std::min(now_ticks_, *since) >= end_ticks) {
    thread->calls.ConfirmAlive();
  }
  if (closed && thread->closed) {
    thread->calls.EndThread(thread->seen_ticks);
    thread->over = true;
  }
  thread->closed = closed;
}

void SlowMethodFinder::RuleOut(uint64_t serial) {
  const auto found = threads_.find(serial);
  if (found == threads_.end()) return;
  Followed& thread = found->second;
  if (IsUnchanged(thread) && IsOpen(thread.chunk)) thread.calls.RuleOut();
}

// The ends of what is open may be missing.
void SlowMethodFinder::RuleOutUnrecorded() {
  const RingHeader& header = ring_->header();
  const RecordMode mode = CurrentRecordMode(header);
  const uint64_t dropped = header.dropped_events.load(std::memory_order_relaxed);
  for (auto& [serial, thread] : threads_) {
    const bool recorded =
        mode != RecordMode::kOff && (mode != RecordMode::kWatchedOnly || thread.slot != nullptr);
    if (!recorded || dropped != dropped_events_) thread.calls.RuleOut();
  }
  dropped_events_ = dropped;
}

uint64_t SlowMethodFinder::OnEnded(const MethodCall& call, uint64_t reported_ns) {
  if (call.end_ticks < call.begin_ticks + least_ticks_ || call.end_ticks < since_ticks_) return 0;
  const uint64_t begin_ns = clock_.ToMonotonicNs(call.begin_ticks);
  const uint64_t end_ns = clock_.ToMonotonicNs(call.end_ticks);
  const HeldTime held = holds_->Within(begin_ns, end_ns);
  const uint64_t least_ns = threshold_ns_ + reported_ns;
  if (end_ns - begin_ns < least_ns) return 0;
  const uint64_t own_ns = end_ns - begin_ns - std::min(end_ns - begin_ns, held.held_ns());
  if (own_ns < least_ns) {
    refusals_->Add(held.Main(), end_ns);
    return 0;
  }
  if (WaitedForAnEvent(call)) return 0;
  found_.push_back({current_->chunk.serial, current_->tid, IsWatched(*current_), call});
  return own_ns;
}

// By the thread's own record of its waits, which watched threads keep.
bool SlowMethodFinder::WaitedForAnEvent(const MethodCall& call) const {
  if (current_->slot == nullptr) return false;
  const RingWindow window = ring_->CopyWindow(call.begin_ticks, call.end_ticks);
  for (const WindowThread& thread : window.threads) {
    if (thread.serial != current_->chunk.serial) continue;
    for (const WindowChunk& chunk : thread.markers) {
      EventCursor cursor(chunk);
      EventRecord record;
      WaitEvent wait;
      while (cursor.Next(&record)) {
        const bool inside = record.ticks >= call.begin_ticks && record.ticks <= call.end_ticks;
        if (inside && record.kind == EventKind::kWait && DecodeWaitRecord(record, &wait) &&
            IsForAnEvent(wait.what)) {
          return true;
        }
      }
    }
  }
  return false;
}

void SlowMethodFinder::Finish(bool process_exits) {
  for (auto& [serial, thread] : threads_) {
    current_ = &thread;
    if (!process_exits && !thread.over && !thread.closed) thread.calls.ConfirmAlive();
  }
}

std::vector<SlowMethod> SlowMethodFinder::TakeFound() { return std::exchange(found_, {}); }

std::vector<SuspectMethod> SlowMethodFinder::Suspects() const {
  std::vector<SuspectMethod> suspects;
  for (const auto& [serial, thread] : threads_) {
    const std::optional<ThreadCalls::Suspect> call = thread.calls.suspect();
    if (call) suspects.push_back({serial, thread.tid, IsWatched(thread), *call});
  }
  return suspects;
}

}  // namespace jankbox
