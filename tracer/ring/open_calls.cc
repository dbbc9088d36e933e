#include "tracer/ring/open_calls.h"

#include "base/atomic_word.h"
#include "tracer/event/event.h"
#include "tracer/ring/nesting_scan.h"

namespace jankbox {

void OpenCallStack::Replay(RingChunk* chunk, const uint64_t* end) {
  if (ReplayNested(chunk, end)) return;
  depth_ = 0;
  ReplayOneByOne(chunk, end);
}

// Backwards, a begin is open at the end if more begins than ends are between it and the end than
// before it was met: only such records are checked. Whether each end closed its own begin shows
// in the sum of the ids, begins less ends. False if it did not, or a rebase is in between.
bool OpenCallStack::ReplayNested(RingChunk* chunk, const uint64_t* end) {
  const uint64_t* first = FirstWord(chunk);
  const uint64_t* open_begins[kMaxOpenCalls];  // innermost first
  uint32_t found = 0;
  uint32_t id_sum = 0;
  NestingScan scan(end);
  while (const uint64_t* begin = scan.NextOpenBegin(first)) {
    if (found == kMaxOpenCalls) return false;
    open_begins[found++] = begin;
    id_sum += BeginOrEndBits(LoadRelaxed(begin));
  }
  if (scan.saw_rebase()) return false;
  // What the ends closed beyond the chunk's own begins was open at its start.
  const auto* open = reinterpret_cast<const RingOpenCall*>(chunk + 1);
  const uint32_t closed = scan.unmatched_ends();
  if (closed > chunk->open_calls || chunk->open_calls_truncated != 0) return false;
  const uint32_t kept = chunk->open_calls - closed;
  for (uint32_t i = kept; i < chunk->open_calls; ++i) {
    id_sum -= BeginOrEndBits(MakeEvent(static_cast<EventKind>(open[i].kind), open[i].id, 0));
  }
  if ((id_sum & kBeginOrEndBits) != scan.id_sum() || kept + found > kMaxOpenCalls) return false;
  for (uint32_t i = 0; i < kept; ++i) Push(open[i].ticks, open[i].id, open[i].kind);
  while (found > 0) {
    const uint64_t word = LoadRelaxed(open_begins[--found]);
    const bool method = KindOf(word) == EventKind::kBegin;
    Push(TicksOf(word, chunk->base_ticks), method ? IdOf(word) : 0,
         static_cast<uint32_t>(KindOf(word)));
  }
  return true;
}

void OpenCallStack::ReplayOneByOne(RingChunk* chunk, const uint64_t* end) {
  const RingOpenCall* open = reinterpret_cast<const RingOpenCall*>(chunk + 1);
  for (uint32_t i = 0; i < chunk->open_calls; ++i) Push(open[i].ticks, open[i].id, open[i].kind);
  depth_ += chunk->open_calls_truncated;
  uint64_t base = chunk->base_ticks;
  for (uint64_t* at = FirstWord(chunk); at < end; ++at) {
    const uint64_t word = LoadRelaxed(at);
    const EventKind kind = KindOf(word);
    switch (kind) {
      case EventKind::kBegin:
      case EventKind::kDispatchBegin:
        Push(TicksOf(word, base), kind == EventKind::kBegin ? IdOf(word) : 0,
             static_cast<uint32_t>(kind));
        break;
      case EventKind::kEnd:
        Pop(IdOf(word), static_cast<uint32_t>(EventKind::kBegin));
        break;
      case EventKind::kDispatchEnd:
        Pop(0, static_cast<uint32_t>(EventKind::kDispatchBegin));
        break;
      case EventKind::kRebase:
        if (end - at > 2) base = JoinPayload(LoadRelaxed(at + 1), LoadRelaxed(at + 2));
        break;
      default:
        break;  // payload words carry their own kind and are passed over
    }
  }
}

void OpenCallStack::Push(uint64_t ticks, uint32_t id, uint32_t kind) {
  if (depth_ < kMaxOpenCalls) calls_[depth_] = {ticks, id, kind};
  ++depth_;
}

void OpenCallStack::Pop(uint32_t id, uint32_t kind) {
  if (depth_ > kMaxOpenCalls) {  // ids beyond the cap are not known: trust the nesting
    --depth_;
    return;
  }
  // An end closes its own begin and whatever was left open above it; without a begin it closes
  // nothing.
  for (uint32_t i = depth_; i > 0; --i) {
    if (calls_[i - 1].id == id && calls_[i - 1].kind == kind) {
      depth_ = i - 1;
      return;
    }
  }
}

uint64_t* OpenCallStack::WriteTo(uint64_t* words) const {
  for (uint32_t i = 0; i < size(); ++i) {
    const RingOpenCall& call = calls_[i];
    StoreRelaxed(words++, call.ticks);
    StoreRelaxed(words++, uint64_t{call.id} | uint64_t{call.kind} << 32);
  }
  return words;
}

}  // namespace jankbox
