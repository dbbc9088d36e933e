// The process, device or display that a thread waits for, found by the system call in which it
// waits: the server at the other end of a socket, a child at the other end of a pipe, a child that
// wait4() waits for, the graphics driver. Asks the kernel only, about descriptors that the thread
// uses right now: call it while the thread waits. Watcher thread; allocates.
#ifndef JANKBOX_MONITORS_INCIDENT_WAIT_PEER_H_
#define JANKBOX_MONITORS_INCIDENT_WAIT_PEER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "monitors/incident/thread_probe.h"

namespace jankbox {

struct WaitPeer {
  enum class Kind : uint8_t {
    kNone,
    kProcess,  // another process, at the other end of a socket
    kXServer,
    kCompositor,  // of Wayland
    kBus,         // a peer that is called through D-Bus; the process is the bus
    kChild,       // of this process
    kGpuDriver,
    kVsync,
  };

  Kind kind = Kind::kNone;
  bool stopped = false;    // the process was in state T
  int32_t pid = 0;         // of a socket: of the process that called listen(); 0: not known
  char process[16] = {};   // its name, as /proc/PID/comm; empty: it is gone
  char bus_name[64] = {};  // kBus: the destination of the call, cut; empty: not known

  bool operator==(const WaitPeer&) const = default;
};

inline constexpr size_t kWaitPeerKinds = 8;

// kNone if the wait is for something else, or for one of several processes.
WaitPeer PeerOfWait(const ThreadReading& reading);

// The X server, the compositor and a bus that this process is connected to; kNone for those that it
// is not connected to. For a wait that another of its threads ends, once that has an answer.
std::array<WaitPeer, 3> ConnectedServers();

// Takes the first number of a list such as /proc/PID/task/TID/children out of it. 0 at its end, and
// for a number that the end may have cut: each is followed by a space.
int32_t TakePid(const char** list);

// "waiting for the X server (Xvfb, pid 123, stopped)". Names only servers of displays and children.
std::string PeerPhrase(const WaitPeer& peer);

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_INCIDENT_WAIT_PEER_H_
