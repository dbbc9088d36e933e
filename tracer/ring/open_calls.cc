#include "tracer/ring/open_calls.h"

#include <atomic>

#include "tracer/event/event.h"

namespace jankbox {
namespace {

uint64_t LoadWord(uint64_t* at) {
  return std::atomic_ref<uint64_t>(*at).load(std::memory_order_relaxed);
}

}  // namespace

void OpenCallStack::Replay(RingChunk* chunk, const uint64_t* end) {
  const RingOpenCall* open = reinterpret_cast<const RingOpenCall*>(chunk + 1);
  for (uint32_t i = 0; i < chunk->open_calls; ++i) Push(open[i].ticks, open[i].id, open[i].kind);
  depth_ += chunk->open_calls_truncated;
  uint64_t base = chunk->base_ticks;
  for (uint64_t* at = FirstWord(chunk); at < end; ++at) {
    const uint64_t word = LoadWord(at);
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
        if (end - at > 2) base = JoinPayload(LoadWord(at + 1), LoadWord(at + 2));
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
    std::atomic_ref<uint64_t>(*words++).store(call.ticks, std::memory_order_relaxed);
    std::atomic_ref<uint64_t>(*words++).store(uint64_t{call.id} | uint64_t{call.kind} << 32,
                                              std::memory_order_relaxed);
  }
  return words;
}

}  // namespace jankbox
