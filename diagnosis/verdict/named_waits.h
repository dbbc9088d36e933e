// Gives each wait of an incident the process or device that it was for, as far as that is known: by
// the descriptor, as the watcher found it, and by the library that waits, as the stacks show it. A
// thread that waits for another one of its process, inside libxcb or GDBus, waits for a server all
// the same. Sealing thread and recovery; allocates.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_NAMED_WAITS_H_
#define JANKBOX_DIAGNOSIS_VERDICT_NAMED_WAITS_H_

#include <vector>

#include "monitors/incident/verdict_timeline.h"
#include "tracer/clock/tick_clock.h"
#include "tracer/unwind/resolved_frame.h"
#include "tracer/unwind/stack_sample.h"

namespace jankbox {

// For whom the library waits in which the stack's innermost function is; kNone for the program's
// own functions, for libraries that wait for nobody in particular, and for their locks.
WaitPeer::Kind KindOfStack(const StackSample& sample, const FrameTable& frames);

// `readings` with their peers. `samples` are those of the same thread, oldest first, in ticks.
VerdictTimeline NameWaits(VerdictTimeline readings, const std::vector<StackSample>& samples,
                          const FrameTable& frames, const TickConverter& clock);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_NAMED_WAITS_H_
