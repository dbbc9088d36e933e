// The functions that other threads were in when they ended the waits of an incident's thread: the
// innermost recorded call, else what a sample of the last 5 ms shows. Sealing thread; allocates.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_WAKER_FUNCTIONS_H_
#define JANKBOX_DIAGNOSIS_VERDICT_WAKER_FUNCTIONS_H_

#include <vector>

#include "diagnosis/verdict/wake_up.h"
#include "diagnosis/verdict/window_verdict.h"

namespace jankbox {

// Sets WakeUp::function where it is known.
void SetWakerFunctions(const VerdictWindow& source, std::vector<WakeUp>* wake_ups);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_WAKER_FUNCTIONS_H_
