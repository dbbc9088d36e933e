// The names of what a watched thread does outside of its loop's messages. It is recorded as a
// dispatch.
#ifndef JANKBOX_BASE_PHASE_NAMES_H_
#define JANKBOX_BASE_PHASE_NAMES_H_

namespace jankbox {

// Until the loop waits for the first time. A program may have no loop: until this ends, it accuses
// nobody.
inline constexpr char kStartUpName[16] = "start-up";

// From the loop's last wait to the end of the process: what is left of main(), exit handlers,
// destructors.
inline constexpr char kExitName[] = "exit";

}  // namespace jankbox

#endif  // JANKBOX_BASE_PHASE_NAMES_H_
