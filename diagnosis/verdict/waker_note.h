// Which thread of the process ended the longest wait of an incident's thread, by the kernel's
// wake-ups (ftrace), and in which function. Sealing thread; allocates.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_WAKER_NOTE_H_
#define JANKBOX_DIAGNOSIS_VERDICT_WAKER_NOTE_H_

#include <string>

#include "diagnosis/seal/seal_request.h"
#include "diagnosis/verdict/window_verdict.h"

namespace jankbox {

// "The longest wait, 412 ms, ended when thread decoder [1234] woke it, in Decoder::Finish." Empty
// if that is not known, or if no wait took a fifth of the incident.
std::string WakerNote(const VerdictWindow& source, const SealRequest& request);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_WAKER_NOTE_H_
