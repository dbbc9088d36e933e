// The stops of an incident's thread, as sentences for its report. Watcher thread; allocates.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_HELD_NOTES_H_
#define JANKBOX_DIAGNOSIS_VERDICT_HELD_NOTES_H_

#include <string>
#include <vector>

#include "monitors/incident/held_time.h"

namespace jankbox {

std::vector<std::string> HeldNotes(const HeldTime& held);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_HELD_NOTES_H_
