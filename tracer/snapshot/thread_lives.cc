#include "tracer/snapshot/thread_lives.h"

#include <algorithm>

#include "base/compact_sort.h"

namespace jankbox {
namespace {

// The life that `ticks` is in: the last one that had begun, else the first. Null: none.
template <typename Lives>
auto* FindLife(Lives& lives, uint64_t ticks) {
  auto* at = lives.empty() ? nullptr : &lives.front();
  for (auto& life : lives) {
    if (life.from_ticks <= ticks) at = &life;
  }
  return at;
}

}  // namespace

uint64_t FirstTicks(const WindowThread& thread) {
  uint64_t first = UINT64_MAX;
  if (!thread.chunks.empty()) first = thread.chunks.front().base_ticks;
  if (!thread.markers.empty()) first = std::min(first, thread.markers.front().base_ticks);
  return first;
}

bool DecodeThreadRecord(const EventRecord& record, ThreadEvent* event) {
  if (record.payload.size() > kMaxThreadEventWords) return false;
  uint64_t words[kMaxThreadEventWords];
  std::transform(record.payload.begin(), record.payload.end(), words, PayloadOf);
  return DecodeThreadEvent(record.id, {words, record.payload.size()}, event);
}

std::vector<ThreadEvent> ThreadEventsOf(const RingWindow& window) {
  std::vector<ThreadEvent> events;
  for (const WindowThread& thread : window.threads) {
    for (const WindowChunk& chunk : thread.markers) {
      EventCursor cursor(chunk);
      EventRecord record;
      while (cursor.Next(&record)) {
        ThreadEvent event;
        if (record.kind == EventKind::kThread && DecodeThreadRecord(record, &event)) {
          events.push_back(event);
        }
      }
    }
  }
  CompactSort(&events,
              [](const ThreadEvent& a, const ThreadEvent& b) { return a.ticks < b.ticks; });
  return events;
}

ThreadLives::ThreadLives(const RingWindow& window, const ThreadNames& names_now) {
  for (const ThreadEvent& event : ThreadEventsOf(window)) {
    if (event.step != ThreadStep::kWoken) Add(event);
  }
  AddRingNames(window);
  AddNamesNow(names_now);
}

void ThreadLives::Add(const ThreadEvent& event) {
  std::vector<ThreadLife>& lives = lives_[event.tid];
  if (event.step == ThreadStep::kCreated) {
    if (!lives.empty()) lives.back().to_ticks = std::min(lives.back().to_ticks, event.ticks);
    lives.push_back({.from_ticks = event.ticks,
                     .created = true,
                     .parent_tid = event.parent_tid,
                     .started_ticks = std::max(event.started_ticks, event.ticks),
                     .names = {}});
    return;
  }
  if (lives.empty()) lives.push_back({});
  ThreadLife& life = lives.back();
  if (event.step == ThreadStep::kNamed) {
    life.names.push_back({event.ticks, event.name});
  } else {
    life.to_ticks = event.ticks;
    life.ended = true;
  }
}

// The name of a thread at its first event: of one that was not created in the window, the name
// that it had before it was first renamed in it.
void ThreadLives::AddRingNames(const RingWindow& window) {
  for (const WindowThread& thread : window.threads) {
    if (thread.name.empty()) continue;
    std::vector<ThreadLife>& lives = lives_[thread.tid];
    const uint64_t first = FirstTicks(thread);
    if (lives.empty() || (lives.front().created && first < lives.front().from_ticks)) {
      const uint64_t to = lives.empty() ? UINT64_MAX : lives.front().from_ticks;
      lives.insert(lives.begin(), ThreadLife{.to_ticks = to, .names = {}});
    }
    ThreadLife* life = FindLife(lives, first);
    if (life->created && !life->names.empty()) continue;  // its parent's name, most likely
    if (life->names.empty() || life->names.front().from_ticks > first) {
      life->names.insert(life->names.begin(), {life->from_ticks, thread.name});
    }
  }
}

void ThreadLives::AddNamesNow(const ThreadNames& names_now) {
  for (const auto& [tid, name] : names_now) {
    std::vector<ThreadLife>& lives = lives_[tid];
    if (lives.empty()) lives.push_back({});
    ThreadLife& life = lives.back();
    if (life.ended) continue;  // another thread's by now
    // Named by a function that is not hooked: the time is unknown.
    if (life.names.empty()) {
      life.names.push_back({life.from_ticks, name});
    } else {
      life.names.back().name = name;
    }
  }
}

const ThreadLife* ThreadLives::LifeAt(int32_t tid, uint64_t ticks) const {
  const auto found = lives_.find(tid);
  return found == lives_.end() ? nullptr : FindLife(found->second, ticks);
}

std::string ThreadLives::LastNameOf(const WindowThread& thread) const {
  const ThreadLife* life = LifeAt(thread.tid, FirstTicks(thread));
  return life == nullptr || life->names.empty() ? thread.name : life->names.back().name;
}

std::string ThreadLives::NameAt(int32_t tid, uint64_t ticks) const {
  const ThreadLife* life = LifeAt(tid, ticks);
  if (life == nullptr || life->names.empty()) return {};
  const ThreadLife::Name* at = &life->names.front();
  for (const ThreadLife::Name& name : life->names) {
    if (name.from_ticks <= ticks) at = &name;
  }
  return at->name;
}

}  // namespace jankbox
