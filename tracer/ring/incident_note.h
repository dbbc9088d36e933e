// The notes in the ring's header about incidents: what recovery finds after the process was killed.
// IncidentNote is about a watched thread's incident that is not sealed in its last form yet: the
// watcher thread writes it and the sealing thread clears it. UncountedIncidents are those that
// ended and are not counted yet. Both under the ring's lock, not HOT; recovery reads them in a dead
// ring.
#ifndef JANKBOX_TRACER_RING_INCIDENT_NOTE_H_
#define JANKBOX_TRACER_RING_INCIDENT_NOTE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// One incident, or several that nobody looked at one by one.
struct UncountedIncident {
  std::string id;     // a UUID
  uint32_t kind = 0;  // ReportKind's numbers
  int32_t tid = 0;
  uint64_t begin_ns = 0;  // of one, CLOCK_MONOTONIC
  uint64_t end_ns = 0;
  std::string what;  // the message of one
  uint64_t incidents = 1;
  uint64_t total_ns = 0;
  uint64_t max_ns = 0;
};

// One entry an incident, written before its report waits for the sealing thread; entries for those
// that found no place there are counted together. Any thread.
class UncountedIncidents {
 public:
  // `mutex`: the ring's, for all entries.
  UncountedIncidents(RingHeader* ring, Mutex* mutex) : ring_(ring), mutex_(mutex) {}

  // Notes one incident. Nothing if the table is full: it has room for all that may wait.
  void Add(const UncountedIncident& incident) const EXCLUDES(mutex_);

  // That one is counted, or is none.
  void Clear(std::string_view id) const EXCLUDES(mutex_);

  // Adds incidents to those that are counted together. The id is used if they are the first ones.
  void AddTogether(const UncountedIncident& incidents) const EXCLUDES(mutex_);

  // The same of one that was added, and is not looked at any more.
  void MoveTogether(std::string_view id) const EXCLUDES(mutex_);

  // What was added together so far. From now on further ones have another id; Clear() it when it is
  // counted.
  std::optional<UncountedIncident> TakeTogether() const EXCLUDES(mutex_);

  // Whether there is any.
  bool empty() const EXCLUDES(mutex_);

  // All of a dead ring. Untrusted: ids are UUIDs, numbers are not checked.
  static std::vector<UncountedIncident> Of(const RingHeader& ring);

 private:
  RingHeader* ring_;
  Mutex* mutex_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_INCIDENT_NOTE_H_
