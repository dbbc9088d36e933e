// A window of the ring as one Perfetto trace, zstd-compressed, streamed to a sink (decisions 6, 7
// and 8). Self-contained: clocks, process, thread and track descriptors, names and slices still
// open at the edges are written every time. Runs on the sealing thread or in a program; memory
// bounded by a small reused buffer and zstd's level-1 state.
#ifndef JANKBOX_TRACER_SNAPSHOT_SNAPSHOT_H_
#define JANKBOX_TRACER_SNAPSHOT_SNAPSHOT_H_

#include "base/status.h"
#include "tracer/snapshot/snapshot_input.h"

namespace jankbox {

// Streams the compressed trace into `sink`. On an error of the sink returns it at once.
Result<SnapshotStats> WriteSnapshot(const SnapshotInput& input, const SnapshotSink& sink);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_SNAPSHOT_H_
