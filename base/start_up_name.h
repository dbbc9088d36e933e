// The name of the dispatch that lasts until a thread's loop waits for the first time. A program may
// have no loop: until it ends, it accuses nobody.
#ifndef JANKBOX_BASE_START_UP_NAME_H_
#define JANKBOX_BASE_START_UP_NAME_H_

namespace jankbox {

inline constexpr char kStartUpName[16] = "start-up";

}  // namespace jankbox

#endif  // JANKBOX_BASE_START_UP_NAME_H_
