// Who ended the waits of an incident's thread, and who woke its loop for the incident's message: by
// the kernel's wake-ups, else by the owner of the lock and by what the loop read. Sealing thread;
// allocates.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_WAKE_UPS_H_
#define JANKBOX_DIAGNOSIS_VERDICT_WAKE_UPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "diagnosis/seal/seal_request.h"
#include "diagnosis/verdict/wake_up.h"
#include "diagnosis/verdict/window_verdict.h"
#include "tracer/snapshot/snapshot_input.h"

namespace jankbox {

// The longest waits, as far as they lasted 1 ms, in order of time; and the loop's own, if it is
// known who ended it.
std::vector<WakeUp> FindWakeUps(const VerdictWindow& source, const SealRequest& request);

// "The longest wait, 412 ms, ended when thread decoder [1234] woke it, in Decoder::Finish." if it
// took a fifth of `duration_ns`. "Thread loader [1235] woke the loop for this message, in …"
std::vector<std::string> WakeUpNotes(const std::vector<WakeUp>& wake_ups, uint64_t duration_ns);

// Those of which the thread is known, as arrows from it to thread `tid`.
std::vector<SnapshotWakeUp> TraceWakeUps(const std::vector<WakeUp>& wake_ups, int32_t tid,
                                         const std::string& name, const TickConverter& clock);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_WAKE_UPS_H_
