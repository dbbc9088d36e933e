#include "tests/fakes/fake_ring.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace jankbox {

FakeRing::FakeRing(uint32_t bytes) {
  RingOptions options;  // no folder: in memory
  options.bytes = bytes;
  options.tick_source = TickSource::kClockGettime;
  Result<std::unique_ptr<RingFile>> ring = RingFile::Create(options);
  if (!ring.ok() || !ring.value()->Grow().ok()) abort();
  file_ = std::move(ring.value());
}

void FakeRing::Watch(size_t index, int32_t tid) {
  header()->watched[index].tid.store(tid, std::memory_order_release);
}

void StoreName(std::string_view name, std::atomic<uint64_t>* words, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint64_t word = 0;
    if (8 * i < name.size()) {
      memcpy(&word, name.data() + 8 * i, std::min<size_t>(8, name.size() - 8 * i));
    }
    words[i].store(word, std::memory_order_relaxed);
  }
}

void FakeRing::BeginDispatch(size_t index, std::string_view name, uint64_t now_ns) {
  RingWatchedThread& slot = header()->watched[index];
  slot.dispatch_count.fetch_add(1, std::memory_order_relaxed);
  StoreName(name, slot.what, kDispatchNameWords);
  slot.dispatch_depth.store(1, std::memory_order_relaxed);
  slot.dispatch_begin_ticks.store(now_ns, std::memory_order_release);
}

void FakeRing::EndDispatch(size_t index, uint64_t now_ns) {
  RingWatchedThread& slot = header()->watched[index];
  const uint64_t begin_ns = slot.dispatch_begin_ticks.load(std::memory_order_relaxed);
  if (now_ns - begin_ns >= slow_ns) {
    slot.slow_version.fetch_add(1, std::memory_order_release);
    slot.slow_begin_ticks.store(begin_ns, std::memory_order_relaxed);
    slot.slow_end_ticks.store(now_ns, std::memory_order_relaxed);
    slot.slow_total_ticks.fetch_add(now_ns - begin_ns, std::memory_order_relaxed);
    for (size_t i = 0; i < kDispatchNameWords; ++i) {
      slot.slow_what[i].store(slot.what[i].load(std::memory_order_relaxed),
                              std::memory_order_relaxed);
    }
    slot.slow_version.fetch_add(1, std::memory_order_release);
  }
  slot.dispatch_depth.store(0, std::memory_order_relaxed);
  slot.dispatch_begin_ticks.store(0, std::memory_order_release);
}

void FakeRing::Dispatch(size_t index, std::string_view name, uint64_t from_ns, uint64_t to_ns) {
  BeginDispatch(index, name, from_ns);
  EndDispatch(index, to_ns);
}

void FakeRing::Store(const RingWindow& window) {
  for (const WindowThread& thread : window.threads) {
    uint32_t index = 0;
    for (const WindowChunk& chunk : thread.chunks) {
      StoreChunk(thread, chunk, RingLane::kCalls, index += chunk.gap_before ? 2 : 1);
    }
    index = 0;
    for (const WindowChunk& chunk : thread.markers) {
      StoreChunk(thread, chunk, RingLane::kMarkers, index += chunk.gap_before ? 2 : 1);
    }
  }
}

void FakeRing::StoreChunk(const WindowThread& thread, const WindowChunk& chunk, RingLane lane,
                          uint32_t index) {
  if (stored_ >= header()->chunks_ready.load()) abort();
  RingChunk* stored = file_->chunk(stored_++);
  stored->owner.store(kNoOwner);
  stored->tid = thread.tid;
  stored->thread_serial = thread.serial;
  stored->thread_chunk_index = index - 1;
  stored->open_calls = static_cast<uint32_t>(chunk.open_calls.size());
  stored->committed_words.store(static_cast<uint32_t>(chunk.words.size()));
  stored->base_ticks = chunk.base_ticks;
  uint64_t name[2] = {};
  memcpy(name, thread.name.data(), std::min<size_t>(thread.name.size(), sizeof(name) - 1));
  stored->thread_name[0] = name[0];
  stored->thread_name[1] = name[1];
  stored->lane = static_cast<uint32_t>(lane);
  auto* words = reinterpret_cast<uint64_t*>(stored + 1);
  for (const OpenCall& call : chunk.open_calls) {
    *words++ = call.ticks;
    *words++ = uint64_t{static_cast<uint32_t>(call.kind)} << 32 | call.id;
  }
  std::copy(chunk.words.begin(), chunk.words.end(), words);
  stored->sequence.store(header()->next_sequence.fetch_add(1) + 1, std::memory_order_release);
}

}  // namespace jankbox
