// Which descriptors are connections to a display's server. Cold: system calls; NO-ALLOC, no lock,
// no cancellation point. Any thread.
#ifndef JANKBOX_MONITORS_LOOPER_DISPLAY_SOCKETS_H_
#define JANKBOX_MONITORS_LOOPER_DISPLAY_SOCKETS_H_

#include "base/display_socket.h"
#include "monitors/looper/loop_waits.h"

namespace jankbox {

// kNone if it is none, and if it was made without a path (TCP, WAYLAND_SOCKET). One system call.
DisplayServer DisplayOfSocket(int fd);

// Of the connections that `epoll_fd` watches; at most those that 2 KiB of its fdinfo name.
DisplayServer DisplayOfEpoll(int epoll_fd);

// Of what the wait waits for: the first 16 descriptors of a poll or a select, those of an epoll.
DisplayServer DisplayOfWait(const WaitCall& call);

// Of what a loop waited for last.
DisplayServer DisplayOfLoop(const LoopWaits::Awaited& awaited);

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_DISPLAY_SOCKETS_H_
