// The process's threads in an ANR report: the list, the owner of the lock, deadlocks.
// Sealing thread; allocates.
#ifndef JANKBOX_DIAGNOSIS_SEAL_ANR_REPORT_H_
#define JANKBOX_DIAGNOSIS_SEAL_ANR_REPORT_H_

#include "diagnosis/seal/seal_request.h"
#include "diagnosis/symbols/symbolizer.h"
#include "tracer/ring/ring_window.h"

namespace jankbox {

// Adds them to `report`, whose verdict and notes are there already. Of a dead process the deadlocks
// are known, from its ring.
void TellAnrThreads(const SealRequest& request, const RingWindow& window, const FrameTable& frames,
                    uint64_t begin_ticks, Report* report);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_ANR_REPORT_H_
