#include "tracer/snapshot/thread_tracks.h"

#include <algorithm>

#include "base/compact_sort.h"
#include "tracer/perfetto/track_descriptor.h"
#include "tracer/perfetto/track_uuid.h"

namespace jankbox {
namespace {

using perfetto::TrackEventType;

struct NamePeriod {
  uint64_t from_ticks;
  uint64_t to_ticks;
  std::string name;
};

// The names of a tid in the window, one after another; equal names in a row are one.
std::vector<NamePeriod> NamePeriods(const std::vector<ThreadLife>& lives,
                                    const RingWindow& window) {
  std::vector<NamePeriod> periods;
  const ThreadLife* last = nullptr;
  for (const ThreadLife& life : lives) {
    for (size_t i = 0; i < life.names.size(); ++i) {
      // The first name of a life counts from its start.
      const uint64_t from = i == 0 ? life.from_ticks : life.names[i].from_ticks;
      const uint64_t to = i + 1 < life.names.size() ? life.names[i + 1].from_ticks : life.to_ticks;
      if (to <= window.from_ticks || from >= window.to_ticks || to <= from) continue;
      if (last == &life && periods.back().name == life.names[i].name) {
        periods.back().to_ticks = std::min(to, window.to_ticks);
      } else {
        periods.push_back(
            {std::max(from, window.from_ticks), std::min(to, window.to_ticks), life.names[i].name});
      }
      last = &life;
    }
  }
  return periods;
}

uint64_t FlowId(int32_t tid, const ThreadLife& life) {
  return life.started_ticks ^ uint64_t { static_cast<uint32_t>(tid) } << 40;
}

// "worker-7 [1234]", as far as it is known.
std::string Called(const std::string& name, int32_t tid) {
  const std::string number = "[" + std::to_string(tid) + "]";
  return name.empty() ? number : name + " " + number;
}

}  // namespace

void ThreadTracks::AddLife(const ThreadLives& lives, int32_t tid, const ThreadLife& life,
                           const RingWindow& window) {
  const auto inside = [&](uint64_t ticks) {
    return ticks >= window.from_ticks && ticks <= window.to_ticks;
  };
  const uint64_t uuid = tracks_->UuidOfLife(tid, &life);
  if (life.created && inside(life.from_ticks) && inside(life.started_ticks)) {
    entries_.push_back(
        {.ticks = life.from_ticks,
         .type = TrackEventType::kInstant,
         .track_uuid =
             tracks_->UuidOfLife(life.parent_tid, lives.LifeAt(life.parent_tid, life.from_ticks)),
         .name = "create thread " + Called(lives.NameAt(tid, life.started_ticks), tid),
         .flow_id = FlowId(tid, life),
         .value_name = "child_tid",
         .value = tid});
    const std::string parent = lives.NameAt(life.parent_tid, life.from_ticks);
    entries_.push_back({.ticks = life.started_ticks,
                        .type = TrackEventType::kInstant,
                        .track_uuid = uuid,
                        .name = "created by " + Called(parent, life.parent_tid),
                        .flow_id = FlowId(tid, life),
                        .flow_ends = true,
                        .value_name = "parent_tid",
                        .value = life.parent_tid});
  }
  if (life.ended && inside(life.to_ticks)) {
    entries_.push_back({.ticks = life.to_ticks,
                        .type = TrackEventType::kInstant,
                        .track_uuid = uuid,
                        .name = "thread ended"});
  }
}

void ThreadTracks::AddNames(int32_t tid, const std::vector<ThreadLife>& lives,
                            const RingWindow& window, int32_t pid) {
  const std::vector<NamePeriod> periods = NamePeriods(lives, window);
  if (periods.size() < 2) return;
  const uint64_t uuid = TrackUuid(TrackKind::kThreadName, pid, static_cast<uint32_t>(tid));
  WriteTrack(writer_,
             {.uuid = uuid, .parent_uuid = tracks_->UuidOfTid(tid), .name = "thread name"});
  for (const NamePeriod& period : periods) {
    entries_.push_back({.ticks = period.from_ticks,
                        .type = TrackEventType::kSliceBegin,
                        .track_uuid = uuid,
                        .name = period.name,
                        .value_name = "tid",
                        .value = tid});
    entries_.push_back(
        {.ticks = period.to_ticks, .type = TrackEventType::kSliceEnd, .track_uuid = uuid});
  }
}

uint64_t ThreadTracks::Write(const ThreadLives& lives, const RingWindow& window, int32_t pid) {
  uint64_t slices = 0;
  for (const auto& [tid, of_tid] : lives.by_tid()) {
    for (const ThreadLife& life : of_tid) AddLife(lives, tid, life, window);
    AddNames(tid, of_tid, window, pid);
  }
  // By time, then as added: a name ends before the next one begins.
  std::vector<const Entry*> in_order;
  for (const Entry& entry : entries_) in_order.push_back(&entry);
  CompactSort(&in_order, [](const Entry* a, const Entry* b) {
    return a->ticks != b->ticks ? a->ticks < b->ticks : a < b;
  });
  for (const Entry* next : in_order) {
    const Entry& entry = *next;
    const uint64_t boottime_ns = clock_.BoottimeNs(entry.ticks);
    if (!sequence_->started()) {
      sequence_->Start(boottime_ns);
      names_->Use(sequence_);
    }
    if (entry.type == TrackEventType::kSliceBegin) ++slices;
    const IntAnnotation value = {entry.value_name != nullptr ? entry.value_name : "", entry.value};
    const bool end = entry.type == TrackEventType::kSliceEnd;
    sequence_->Write(boottime_ns,
                     {.type = entry.type,
                      .track_uuid = entry.track_uuid,
                      .category = end ? Category::kNone : Category::kThread,
                      .name_iid = end ? 0 : names_->OfText(entry.name),
                      .values = {&value, entry.value_name != nullptr ? size_t{1} : size_t{0}},
                      .flow_id = entry.flow_id,
                      .flow_ends = entry.flow_ends});
  }
  return slices;
}

}  // namespace jankbox
