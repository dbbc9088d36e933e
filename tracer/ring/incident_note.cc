#include "tracer/ring/incident_note.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/uuid.h"
#include "tracer/ring/word_text.h"

namespace jankbox {
namespace {

template <typename T>
T Load(const std::atomic<T>& field) {
  return field.load(std::memory_order_relaxed);
}

RingUncountedState StateOf(const RingUncounted& entry) {
  return static_cast<RingUncountedState>(entry.state.load(std::memory_order_acquire));
}

void SetState(RingUncountedState state, RingUncounted* entry) {
  entry->state.store(static_cast<uint32_t>(state), std::memory_order_release);
}

// The entries of single incidents, and those of incidents that are counted together.
std::span<RingUncounted> Single(RingHeader* ring) { return {ring->uncounted, kMaxUncounted}; }
std::span<RingUncounted> Together(RingHeader* ring) {
  return {ring->uncounted + kMaxUncounted, kUncountedTogether};
}

RingUncounted* Find(std::span<RingUncounted> entries, RingUncountedState state) {
  const auto at = std::find_if(entries.begin(), entries.end(), [state](const RingUncounted& entry) {
    return StateOf(entry) == state;
  });
  return at == entries.end() ? nullptr : &*at;
}

UncountedIncident Read(const RingUncounted& entry) {
  return {.id = ReadWordText(entry.id),
          .kind = Load(entry.kind),
          .tid = Load(entry.tid),
          .begin_ns = Load(entry.begin_ns),
          .end_ns = Load(entry.end_ns),
          .what = ReadWordText(entry.what),
          .incidents = Load(entry.incidents),
          .total_ns = Load(entry.total_ns),
          .max_ns = Load(entry.max_ns)};
}

// The state last: what is killed before it leaves a free entry.
void Write(const UncountedIncident& incident, RingUncountedState state, RingUncounted* entry) {
  StoreWordText(&entry->id, incident.id);
  StoreWordText(&entry->what, incident.what);
  entry->kind.store(incident.kind, std::memory_order_relaxed);
  entry->tid.store(incident.tid, std::memory_order_relaxed);
  entry->begin_ns.store(incident.begin_ns, std::memory_order_relaxed);
  entry->end_ns.store(incident.end_ns, std::memory_order_relaxed);
  entry->incidents.store(static_cast<uint32_t>(incident.incidents), std::memory_order_relaxed);
  entry->total_ns.store(incident.total_ns, std::memory_order_relaxed);
  entry->max_ns.store(incident.max_ns, std::memory_order_relaxed);
  SetState(state, entry);
}

void AddLocked(RingHeader* ring, const UncountedIncident& added) {
  const std::span<RingUncounted> together = Together(ring);
  if (RingUncounted* grows = Find(together, RingUncountedState::kGrows)) {
    grows->total_ns.store(Load(grows->total_ns) + added.total_ns, std::memory_order_relaxed);
    grows->max_ns.store(std::max(Load(grows->max_ns), added.max_ns), std::memory_order_relaxed);
    grows->incidents.store(Load(grows->incidents) + static_cast<uint32_t>(added.incidents),
                           std::memory_order_relaxed);
  } else if (RingUncounted* free = Find(together, RingUncountedState::kFree)) {
    Write(added, RingUncountedState::kGrows, free);
  }
}

}  // namespace

void IncidentNote::SetState(RingIncidentState state) const {
  incident_->state.store(static_cast<uint32_t>(state), std::memory_order_release);
}

void IncidentNote::Write(const Facts& facts) const {
  MutexLock lock(mutex_);
  if (facts.id != ReadWordText(incident_->id)) {
    SetState(RingIncidentState::kNone);
    StoreWordText(&incident_->id, facts.id);
    incident_->sealed_revision.store(0, std::memory_order_relaxed);
  }
  incident_->kind.store(facts.kind, std::memory_order_relaxed);
  incident_->begin_ticks.store(facts.begin_ticks, std::memory_order_relaxed);
  incident_->end_ticks.store(facts.end_ticks, std::memory_order_relaxed);
  SetState(facts.end_ticks != 0 ? RingIncidentState::kFinished : RingIncidentState::kGrowing);
}

void IncidentNote::SetSealedRevision(uint32_t revision) const {
  incident_->sealed_revision.store(revision, std::memory_order_relaxed);
}

void IncidentNote::Clear(std::string_view id) const {
  MutexLock lock(mutex_);
  if (id == ReadWordText(incident_->id)) SetState(RingIncidentState::kNone);
}

void UncountedIncidents::Add(const UncountedIncident& incident) const {
  MutexLock lock(mutex_);
  RingUncounted* free = Find(Single(ring_), RingUncountedState::kFree);
  if (free != nullptr) Write(incident, RingUncountedState::kWaits, free);
}

void UncountedIncidents::Clear(std::string_view id) const {
  MutexLock lock(mutex_);
  for (RingUncounted& entry : ring_->uncounted) {
    if (StateOf(entry) != RingUncountedState::kFree && id == ReadWordText(entry.id)) {
      SetState(RingUncountedState::kFree, &entry);
    }
  }
}

void UncountedIncidents::AddTogether(const UncountedIncident& incidents) const {
  MutexLock lock(mutex_);
  AddLocked(ring_, incidents);
}

void UncountedIncidents::MoveTogether(std::string_view id) const {
  MutexLock lock(mutex_);
  for (RingUncounted& entry : Single(ring_)) {
    if (StateOf(entry) == RingUncountedState::kFree || id != ReadWordText(entry.id)) continue;
    const UncountedIncident moved = Read(entry);
    // First, so that a kill in between never counts it twice.
    SetState(RingUncountedState::kFree, &entry);
    AddLocked(ring_, moved);
  }
}

std::optional<UncountedIncident> UncountedIncidents::TakeTogether() const {
  MutexLock lock(mutex_);
  RingUncounted* grows = Find(Together(ring_), RingUncountedState::kGrows);
  if (grows == nullptr) return std::nullopt;
  SetState(RingUncountedState::kTogether, grows);
  return Read(*grows);
}

bool UncountedIncidents::empty() const {
  MutexLock lock(mutex_);
  return std::all_of(
      std::begin(ring_->uncounted), std::end(ring_->uncounted),
      [](const RingUncounted& entry) { return StateOf(entry) == RingUncountedState::kFree; });
}

std::vector<UncountedIncident> UncountedIncidents::Of(const RingHeader& ring) {
  std::vector<UncountedIncident> incidents;
  for (const RingUncounted& entry : ring.uncounted) {
    UncountedIncident incident = Read(entry);
    if (StateOf(entry) != RingUncountedState::kFree && IsUuid(incident.id)) {
      incidents.push_back(std::move(incident));
    }
  }
  return incidents;
}

}  // namespace jankbox
