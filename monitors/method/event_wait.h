// Whether a thread waits as a loop or a queue does for its next task. Pure; watcher thread.
#ifndef JANKBOX_MONITORS_METHOD_EVENT_WAIT_H_
#define JANKBOX_MONITORS_METHOD_EVENT_WAIT_H_

#include "monitors/incident/thread_probe.h"

namespace jankbox {

// True for a wait for another thread (a condition, a semaphore, a join), for descriptors other than
// files, for a signal or a child: also a wait for a result looks so. False for a wait for a lock or
// the disk, and for a sleep. A wait that the kernel does not let Jankbox see is one of a thread
// that is not `watched`.
bool WaitsForAnEvent(const ThreadReading& reading, bool watched);

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_METHOD_EVENT_WAIT_H_
