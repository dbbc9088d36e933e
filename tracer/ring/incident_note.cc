#include "tracer/ring/incident_note.h"

#include "tracer/ring/word_text.h"

namespace jankbox {

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

}  // namespace jankbox
