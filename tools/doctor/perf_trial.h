// Tries what the stack sampler does first: perf's cpu-clock with user registers and user stack on
// this thread. For `doctor`. Burns about 30 ms of CPU; any thread.
#ifndef JANKBOX_TOOLS_DOCTOR_PERF_TRIAL_H_
#define JANKBOX_TOOLS_DOCTOR_PERF_TRIAL_H_

#include "base/status.h"

namespace jankbox::tools {

// How many samples with registers and a stack came, or what the kernel refused.
Result<int> TryPerfSampling();

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_DOCTOR_PERF_TRIAL_H_
