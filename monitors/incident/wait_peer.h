// The process, device or display that a thread waits for, found by the system call in which it
// waits: the server at the other end of a socket, a child at the other end of a pipe, a child that
// wait4() waits for, the graphics driver. Asks the kernel only, about descriptors that the thread
// uses right now: call it while the thread waits. Watcher thread; allocates.
#ifndef JANKBOX_MONITORS_INCIDENT_WAIT_PEER_H_
#define JANKBOX_MONITORS_INCIDENT_WAIT_PEER_H_

#include <array>
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
  int32_t pid = 0;         // 0: not known
  char process[16] = {};   // its name, as /proc/PID/comm
  char bus_name[64] = {};  // kBus: the destination of the call, cut; empty: not known

  bool operator==(const WaitPeer&) const = default;
};

// kNone if the wait is for something else, or for one of several processes.
WaitPeer PeerOfWait(const ThreadReading& reading);

// The X server, the compositor and a bus that this process is connected to; kNone for those that it
// is not connected to. For a wait that another of its threads ends, once that has an answer.
std::array<WaitPeer, 3> ConnectedServers();

// "waiting for the X server (Xvfb, pid 123, stopped)".
std::string PeerPhrase(const WaitPeer& peer);

// The same without what changes from run to run: "waiting for the X server".
std::string PeerKey(const WaitPeer& peer);

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_INCIDENT_WAIT_PEER_H_
