// The part of a verdict that a wait adds: its cause and its words, from the thread's own record of
// a call, from a reading, or from what the scheduler saw. Pure functions.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_WAIT_SHARES_H_
#define JANKBOX_DIAGNOSIS_VERDICT_WAIT_SHARES_H_

#include "diagnosis/verdict/thread_span.h"
#include "diagnosis/verdict/verdict.h"
#include "monitors/incident/thread_probe.h"
#include "tracer/event/wait_event.h"

namespace jankbox {

// A wait on a pipe or a socket is for another process only if one of its threads is known to
// have ended it (`woken_by_process`).
VerdictShare ShareOfCall(const WaitEvent& call, bool woken_by_process);
VerdictShare ShareOfReading(const ThreadReading& reading);
// `waited` may be null. kBlocked if nothing says more than the reading does.
VerdictShare ShareOfState(const ThreadSpan& span, const ThreadReading* waited);

// Gives `share` to `peer` (null: not known), unless it is known to be for something else.
void SetPeer(const WaitPeer* peer, VerdictShare* share);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_WAIT_SHARES_H_
