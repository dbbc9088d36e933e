// The messages before an incident, as a report carries them. Sealing thread or programs; allocates.
#ifndef JANKBOX_DIAGNOSIS_BLAME_REPORT_HISTORY_H_
#define JANKBOX_DIAGNOSIS_BLAME_REPORT_HISTORY_H_

#include "report/report.h"
#include "tracer/clock/tick_clock.h"
#include "tracer/ring/ring_window.h"

namespace jankbox {

// Of thread `tid`, before `incident_ticks`; `last` covers at most `max_messages` of them.
ReportHistory HistoryBefore(const RingWindow& window, int32_t tid, uint64_t incident_ticks,
                            const TickConverter& clock, uint32_t max_messages);

// The idle callback of thread `tid` that took longest in the incident, if that is 2 s or more.
void SetIdleCallback(const RingWindow& window, int32_t tid, uint64_t begin_ticks,
                     uint64_t end_ticks, const TickConverter& clock, Report* report);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_BLAME_REPORT_HISTORY_H_
