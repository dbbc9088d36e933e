// The note in the ring's header about a watched thread's incident that is not sealed in its last
// form yet: what recovery finds after the process was killed. The watcher thread writes it and the
// sealing thread clears it, under the ring's lock; recovery reads it from a dead ring.
#ifndef JANKBOX_TRACER_RING_INCIDENT_NOTE_H_
#define JANKBOX_TRACER_RING_INCIDENT_NOTE_H_

#include <cstdint>
#include <string_view>

#include "base/mutex.h"
#include "tracer/ring/ring_format.h"

namespace jankbox {

class IncidentNote {
 public:
  struct Facts {
    std::string_view id;  // a UUID
    uint32_t kind = 0;    // ReportKind's numbers
    uint64_t begin_ticks = 0;
    uint64_t end_ticks = 0;  // 0: it is still growing
  };

  // `mutex`: the ring's, for all notes.
  IncidentNote(RingIncident* incident, Mutex* mutex) : incident_(incident), mutex_(mutex) {}

  // Writes what is known now; another id starts a new note, with revision 0.
  void Write(const Facts& facts) const EXCLUDES(mutex_);

  // The revision that is handed to the sealer: recovery must not use the same number again.
  void SetSealedRevision(uint32_t revision) const;

  // That incident is sealed in its last form. A note about another one stays.
  void Clear(std::string_view id) const EXCLUDES(mutex_);

 private:
  void SetState(RingIncidentState state) const;

  RingIncident* incident_;
  Mutex* mutex_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_INCIDENT_NOTE_H_
