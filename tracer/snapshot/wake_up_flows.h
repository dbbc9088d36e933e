// Draws who ended the waits of the incident's thread: an instant on the thread that did it, joined
// by a flow to one at the end of the wait. A sequence of its own. Cold; one thread.
#ifndef JANKBOX_TRACER_SNAPSHOT_WAKE_UP_FLOWS_H_
#define JANKBOX_TRACER_SNAPSHOT_WAKE_UP_FLOWS_H_

#include <vector>

#include "tracer/perfetto/event_sequence.h"
#include "tracer/snapshot/process_tracks.h"
#include "tracer/snapshot/sequence_names.h"
#include "tracer/snapshot/snapshot_input.h"

namespace jankbox {

// `sequence` is not started. Describes the tracks of threads that have none yet.
void WriteWakeUpFlows(const std::vector<SnapshotWakeUp>& wake_ups, ProcessTracks* tracks,
                      SequenceNames* names, EventSequence* sequence);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_WAKE_UP_FLOWS_H_
