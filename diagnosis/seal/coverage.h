// How much of an incident the recorded events of its thread cover: the time in which none was lost
// because a chunk was overwritten or damaged, or recording was off. Called when a report is made;
// pure.
#ifndef JANKBOX_DIAGNOSIS_SEAL_COVERAGE_H_
#define JANKBOX_DIAGNOSIS_SEAL_COVERAGE_H_

#include <cstdint>
#include <vector>

#include "tracer/ring/record_modes.h"
#include "tracer/ring/ring_window.h"

namespace jankbox {

// A time from which events of the thread are missing.
struct CoverageGap {
  uint64_t from_ticks = 0;
  uint64_t to_ticks = 0;
  const char* reason = "";  // "overwritten", "recording was off", …
};

// The gaps from `from_ticks` to `to_ticks` for thread `tid`, oldest first: all of it if the window
// has nothing of the thread. `modes` are those of the window, oldest first. Events that were
// dropped because no chunk was free are not seen here: RingWindow::dropped_events counts them.
std::vector<CoverageGap> CoverageGaps(const RingWindow& window, int32_t tid, uint64_t from_ticks,
                                      uint64_t to_ticks, const std::vector<RecordedMode>& modes);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_COVERAGE_H_
