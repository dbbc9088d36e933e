// The incident of a trace on tracks above all processes: its slice with the facts of the report,
// below it the stretches of the verdict and the times from which no calls are recorded. On
// sequences of their own (kIncidentSequence). Cold; nothing is kept.
#ifndef JANKBOX_TRACER_SNAPSHOT_INCIDENT_TRACKS_H_
#define JANKBOX_TRACER_SNAPSHOT_INCIDENT_TRACKS_H_

#include <cstdint>

#include "tracer/perfetto/packet_writer.h"
#include "tracer/snapshot/snapshot_input.h"

namespace jankbox {

class IncidentTracks {
 public:
  // `incident` outlives this. One without a kind writes nothing.
  IncidentTracks(PacketWriter* writer, const SnapshotIncident& incident, int32_t pid)
      : writer_(writer), incident_(incident), pid_(pid) {}

  // The tracks; before any other track, since viewers show the first one first.
  void Describe();
  // The slices and the trigger.
  void Write();

 private:
  bool empty() const { return incident_.kind.empty(); }
  void WriteIncident();
  void WriteVerdict();
  void WriteCoverage();

  PacketWriter* writer_;
  const SnapshotIncident& incident_;
  const int32_t pid_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_INCIDENT_TRACKS_H_
