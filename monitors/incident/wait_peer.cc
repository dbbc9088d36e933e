#include "monitors/incident/wait_peer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "base/file.h"
#include "monitors/incident/wait_reason.h"
#include "tracer/sampling/fd_class.h"
#include "tracer/unwind/safe_memory.h"

namespace jankbox {
namespace {

using Kind = WaitPeer::Kind;
using FdClass = StackSample::FdClass;

constexpr size_t kMaxPolled = 8;      // a wait for more is that of a loop
constexpr size_t kMaxChildren = 256;  // beyond it they are not searched
// The ioctl that waits for a vertical blank: DRM_IOCTL_WAIT_VBLANK's type and number.
constexpr uint64_t kWaitVblank = 0x643a;

constexpr struct {
  const char* phrase;
  const char* key;
} kKinds[] = {{"", ""},
              {"another process", "another process"},
              {"the X server", "X server"},
              {"the Wayland compositor", "Wayland compositor"},
              {"the D-Bus peer", "D-Bus peer"},
              {"its child", "child process"},
              {"the GPU driver", "GPU driver"},
              {"the display's vsync", "vsync"}};

std::string ProcPath(int32_t pid, const char* file) {
  return "/proc/" + (pid == 0 ? std::string("self") : std::to_string(pid)) + "/" + file;
}

// Name and state of peer.pid.
void DescribeProcess(WaitPeer* peer) {
  const std::string stat = ReadProcFile(ProcPath(peer->pid, "stat"), 512);
  const size_t begin = stat.find('('), end = stat.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end + 2 >= stat.size()) return;
  peer->process = stat.substr(begin + 1, end - begin - 1);
  peer->stopped = stat[end + 2] == 'T';
}

// A link of /proc/PID/fd: "socket:[123]", "/dev/dri/card0". Empty if it cannot be read.
std::string LinkOf(const std::string& path) {
  char target[256];
  const ssize_t size = readlink(path.c_str(), target, sizeof(target));
  return size > 0 ? std::string(target, static_cast<size_t>(size)) : "";
}

// By the path that the server listens at, whose first byte is 0 in the abstract name space.
Kind KindOfServer(std::string_view path, std::string_view process) {
  const auto has = [path](std::string_view part) { return path.find(part) != path.npos; };
  if (has("/.X11-unix/X")) return Kind::kXServer;
  if (has("/wayland-")) return Kind::kCompositor;
  const bool bus = path.ends_with("/bus") || has("/dbus") || process.starts_with("dbus-");
  return bus ? Kind::kBus : Kind::kProcess;
}

WaitPeer PeerOfSocket(int fd) {
  WaitPeer peer;
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return peer;
  if (credentials.pid <= 0 || credentials.pid == getpid()) return peer;
  sockaddr_un address{};
  size = sizeof(address);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return peer;
  if (address.sun_family != AF_UNIX) return peer;
  peer.pid = credentials.pid;
  DescribeProcess(&peer);
  const size_t before = offsetof(sockaddr_un, sun_path);
  const size_t bytes = size > before ? std::min<size_t>(size - before, sizeof(address.sun_path)) : 0;
  const std::string_view path(address.sun_path, bytes);
  peer.kind = KindOfServer(path.substr(0, path.find('\0', 1)), peer.process);
  return peer;
}

std::vector<int32_t> Children() {
  std::vector<int32_t> pids;
  const Result<std::vector<std::string>> tids = ListDirectory("/proc/self/task");
  if (!tids.ok()) return pids;
  for (const std::string& tid : tids.value()) {
    const std::string list = ReadProcFile("/proc/self/task/" + tid + "/children", 4096);
    for (const char* at = list.c_str(); pids.size() < kMaxChildren;) {
      char* end = nullptr;
      const long pid = strtol(at, &end, 10);
      if (end == at) break;
      pids.push_back(static_cast<int32_t>(pid));
      at = end;
    }
  }
  return pids;
}

WaitPeer ChildOf(int32_t pid) {
  WaitPeer peer{.kind = Kind::kChild, .pid = pid};
  DescribeProcess(&peer);
  return peer;
}

// True if process `pid` (0: this one) has the end of pipe `link` that may be used as in `mode`, a
// bit of st_mode.
bool HasEndOfPipe(int32_t pid, const std::string& link, mode_t mode) {
  const std::string folder = ProcPath(pid, "fd");
  const Result<std::vector<std::string>> fds = ListDirectory(folder);
  if (!fds.ok()) return false;
  for (const std::string& fd : fds.value()) {
    const std::string path = JoinPath(folder, fd);
    struct stat st {};
    if (lstat(path.c_str(), &st) == 0 && (st.st_mode & mode) != 0 && LinkOf(path) == link) {
      return true;
    }
  }
  return false;
}

// The child with the other end. None if this process has it, too: a thread may be waited for.
WaitPeer PeerOfPipe(int fd, const std::string& link) {
  const bool reads = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
  const mode_t other_end = reads ? S_IWUSR : S_IRUSR;
  if (HasEndOfPipe(0, link, other_end)) return {};
  for (const int32_t pid : Children()) {
    if (HasEndOfPipe(pid, link, other_end)) return ChildOf(pid);
  }
  return {};
}

WaitPeer PeerOfDescriptor(int fd) {
  const FdClass fd_class = ClassifyFd(static_cast<uint32_t>(fd));
  if (fd_class == FdClass::kSocket) return PeerOfSocket(fd);
  if (fd_class != FdClass::kPipe) return {};
  return PeerOfPipe(fd, LinkOf("/proc/self/fd/" + std::to_string(fd)));
}

// The one process that all descriptors lead to.
WaitPeer PeerOfPoll(uint64_t address, uint64_t count) {
  pollfd polled[kMaxPolled];
  if (count == 0 || count > kMaxPolled) return {};
  if (ReadOwnMemory(address, polled, count * sizeof(pollfd)) < count * sizeof(pollfd)) return {};
  WaitPeer peer;
  for (uint64_t i = 0; i < count; ++i) {
    if (polled[i].fd < 0) continue;
    const WaitPeer one = PeerOfDescriptor(polled[i].fd);
    const bool other = peer.kind != Kind::kNone && one.pid != peer.pid;
    if (one.kind == Kind::kNone || other) return {};
    peer = one;
  }
  return peer;
}

// `pid` below 1: whichever child ends first.
WaitPeer PeerOfChildWait(int32_t pid) {
  if (pid > 0) return ChildOf(pid);
  const std::vector<int32_t> children = Children();
  if (children.size() == 1) return ChildOf(children.front());
  return {.kind = Kind::kChild};
}

WaitPeer PeerOfIoctl(int fd, uint64_t request) {
  const std::string device = LinkOf("/proc/self/fd/" + std::to_string(fd));
  for (const char* gpu : {"/dev/dri/", "/dev/nvidia", "/dev/kgsl", "/dev/mali"}) {
    if (!device.starts_with(gpu)) continue;
    const bool vblank = device.starts_with("/dev/dri/") && (request & 0xffff) == kWaitVblank;
    return {.kind = vblank ? Kind::kVsync : Kind::kGpuDriver};
  }
  return {};
}

}  // namespace

WaitPeer PeerOfWait(const ThreadReading& reading) {
  const uint64_t first = reading.arguments[0], second = reading.arguments[1];
  const auto first_number = static_cast<int32_t>(first);
  switch (reading.syscall) {
#if defined(SYS_poll)
    case SYS_poll:
#endif
    case SYS_ppoll:
      return PeerOfPoll(first, second);
    case SYS_wait4:
      return PeerOfChildWait(first_number);
    case SYS_waitid:
      return PeerOfChildWait(first_number == P_PID ? static_cast<int32_t>(second) : 0);
    case SYS_ioctl:
      return PeerOfIoctl(first_number, second);
    default:
      return TakesFd(reading.syscall) ? PeerOfDescriptor(first_number) : WaitPeer{};
  }
}

std::vector<WaitPeer> ConnectedServers() {
  std::vector<WaitPeer> servers;
  const Result<std::vector<std::string>> fds = ListDirectory("/proc/self/fd");
  if (!fds.ok()) return servers;
  for (const std::string& fd : fds.value()) {
    WaitPeer peer = PeerOfSocket(atoi(fd.c_str()));
    const bool known = std::find(servers.begin(), servers.end(), peer) != servers.end();
    if (peer.kind != Kind::kNone && !known) servers.push_back(std::move(peer));
  }
  return servers;
}

std::string PeerPhrase(const WaitPeer& peer) {
  std::string text = std::string("waiting for ") + kKinds[static_cast<size_t>(peer.kind)].phrase;
  // The bus only passes calls on, unless it is stopped.
  const bool named = peer.kind == Kind::kBus && !peer.bus_name.empty();
  if (named) text += " " + peer.bus_name;
  if (peer.kind == Kind::kBus && !peer.stopped) return text;
  std::string process = peer.process;
  if (peer.pid != 0) {
    process += (process.empty() ? "pid " : ", pid ") + std::to_string(peer.pid);
  }
  if (peer.stopped) process += ", stopped";
  if (!process.empty()) text += " (" + process + ")";
  return text;
}

std::string PeerKey(const WaitPeer& peer) {
  std::string key = kKinds[static_cast<size_t>(peer.kind)].key;
  const bool lasting = !peer.bus_name.empty() && peer.bus_name[0] != ':';
  if (lasting) key += " " + peer.bus_name;
  return key;
}

}  // namespace jankbox
