// The log of recording modes in the ring's header: which mode was active when. Written by the
// watcher thread, read by reports, also of a dead process.
#ifndef JANKBOX_TRACER_RING_RECORD_MODES_H_
#define JANKBOX_TRACER_RING_RECORD_MODES_H_

#include <cstdint>
#include <vector>

#include "tracer/ring/ring_file.h"

namespace jankbox {

struct RecordedMode {
  RecordMode mode = RecordMode::kExact;
  RecordModeReason reason = RecordModeReason::kStart;
  uint64_t from_ticks = 0;
};

// The mode from `from_ticks` on. The log keeps the last kMaxRingModes changes. NO-ALLOC.
void NoteRecordMode(RingFile* ring, RecordMode mode, RecordModeReason reason, uint64_t from_ticks);

// The active modes between the two moments, oldest first; what the log forgot is left out.
std::vector<RecordedMode> RecordModesBetween(const RingHeader& header, uint64_t from_ticks,
                                             uint64_t to_ticks);

// The last mode of the log; exact if it has none.
RecordMode CurrentRecordMode(const RingHeader& header);

const char* RecordModeName(RecordMode mode);  // "exact", "coarse", "ui_only", "off"
const char* RecordModeReasonName(RecordModeReason reason);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_RECORD_MODES_H_
