#include "monitors/incident/wait_peer.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/display_socket.h"
#include "base/files/fd_table.h"
#include "base/scoped_fd.h"
#include "tracer/sampling/fd_class.h"
#include "tracer/unwind/safe_memory.h"

namespace jankbox {
namespace {

using Kind = WaitPeer::Kind;
using FdClass = StackSample::FdClass;

constexpr size_t kMaxPolled = 8;  // a wait for more is that of a loop
constexpr size_t kMaxPath = 96;
// The ioctl that waits for a vertical blank: DRM_IOCTL_WAIT_VBLANK's type and number.
constexpr uint64_t kWaitVblank = 0x643a;

// By kind.
constexpr char kWords[kWaitPeerKinds][24] = {"",
                                             "another process",
                                             "the X server",
                                             "the Wayland compositor",
                                             "the D-Bus peer",
                                             "its child",
                                             "the GPU driver",
                                             "the display's vsync"};

// The numbers that are the names in a folder of /proc, 1,024 of them at most.
class Numbers {
 public:
  explicit Numbers(const char* folder) : folder_(opendir(folder)) {}
  ~Numbers() {
    if (folder_ != nullptr) closedir(folder_);
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  // -1 at the end.
  int32_t Next() {
    while (const dirent* entry = folder_ == nullptr ? nullptr : readdir(folder_)) {
      if (entry->d_name[0] == '.') continue;
      return left_-- > 0 ? atoi(entry->d_name) : -1;
    }
    return -1;
  }
  // True if there were more when Next() ended.
  bool cut() const { return left_ < 0; }

 private:
  DIR* const folder_;
  int left_ = 1024;
};

// False if it cannot be read or is empty. `text` is zero-terminated.
bool ReadText(const char* path, char* text, size_t size) {
  const ScopedFd fd(open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t got = fd.valid() ? read(fd.get(), text, size - 1) : -1;
  text[std::max<ssize_t>(got, 0)] = '\0';
  return got > 0;
}

// Name and state of peer->pid.
void DescribeProcess(WaitPeer* peer) {
  char path[kMaxPath], text[512];
  snprintf(path, sizeof(path), "/proc/%d/stat", peer->pid);
  if (!ReadText(path, text, sizeof(text))) return;
  const char* begin = strchr(text, '(');
  const char* end = strrchr(text, ')');  // the name may contain any character
  if (begin == nullptr || end == nullptr || end <= begin || end[1] != ' ') return;
  const auto size = static_cast<size_t>(end - begin - 1);
  memcpy(peer->process, begin + 1, std::min(size, sizeof(peer->process) - 1));
  peer->stopped = end[2] == 'T';
}

// "socket:[123]", "/dev/dri/card0"; empty if it cannot be read.
void ReadLink(const char* path, char (&target)[kMaxPath]) {
  const ssize_t size = readlink(path, target, sizeof(target) - 1);
  target[std::max<ssize_t>(size, 0)] = '\0';
}

void ReadOwnLink(int fd, char (&target)[kMaxPath]) {
  char path[kMaxPath];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  ReadLink(path, target);
}

bool Starts(const char* text, const char* start) {
  return strncmp(text, start, strlen(start)) == 0;
}

// By the path that the server listens at; in the abstract name space without its first byte, a 0.
Kind KindOfServer(const char* path, const char* process) {
  const DisplayServer server = DisplayServerAt(path);
  if (server == DisplayServer::kX) return Kind::kXServer;
  if (server == DisplayServer::kWayland) return Kind::kCompositor;
  const char* name = strrchr(path, '/');
  if (name == nullptr) name = "";
  const bool bus = strcmp(name, "/bus") == 0 || Starts(name, "/dbus-") ||
                   strstr(path, "/dbus/system_bus_socket") != nullptr || Starts(process, "dbus-");
  return bus ? Kind::kBus : Kind::kProcess;
}

WaitPeer PeerOfSocket(int apps_fd) {
  WaitPeer peer;
  const AppFd app_fd(apps_fd);
  const int fd = app_fd.get();
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return peer;
  if (credentials.pid <= 0 || credentials.pid == getpid()) return peer;
  struct {
    sockaddr_un address;
    char end;  // the path may have no zero at its end
  } server{};
  size = sizeof(server.address);
  auto* address = reinterpret_cast<sockaddr*>(&server.address);
  if (getpeername(fd, address, &size) != 0 || address->sa_family != AF_UNIX) return peer;
  peer.pid = credentials.pid;
  DescribeProcess(&peer);
  const char* path = server.address.sun_path;
  peer.kind = KindOfServer(path[0] == '\0' ? path + 1 : path, peer.process);
  return peer;
}

WaitPeer ChildOf(int32_t pid) {
  WaitPeer peer;
  peer.kind = Kind::kChild;
  peer.pid = pid;
  DescribeProcess(&peer);
  return peer;
}

// True if process `pid` has the end of pipe `link` that may be used as in `mode`, a bit of st_mode.
// `unknown` if it has too many descriptors to look at.
bool HasEndOfPipe(int32_t pid, const char* link, mode_t mode, bool unknown) {
  char path[kMaxPath], target[kMaxPath];
  snprintf(path, sizeof(path), "/proc/%d/fd", pid);
  Numbers fds(path);
  for (int32_t fd = fds.Next(); fd >= 0; fd = fds.Next()) {
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
    struct stat st {};
    if (lstat(path, &st) != 0 || (st.st_mode & mode) == 0) continue;
    ReadLink(path, target);
    if (strcmp(target, link) == 0) return true;
  }
  return unknown && fds.cut();
}

// The first child with that end of `link`; with null, the only child. 0: none.
int32_t FindChild(const char* link, mode_t mode) {
  int32_t found = 0;
  Numbers threads("/proc/self/task");
  for (int32_t tid = threads.Next(); tid >= 0; tid = threads.Next()) {
    char path[kMaxPath], list[1024];
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", tid);
    ReadText(path, list, sizeof(list));
    const char* at = list;
    while (const int32_t pid = TakePid(&at)) {
      if (link == nullptr && found != 0) return 0;
      if (link == nullptr) found = pid;
      if (link != nullptr && HasEndOfPipe(pid, link, mode, false)) return pid;
    }
  }
  return found;
}

// The child with the other end. None if this process has it, too: a thread may be waited for.
WaitPeer PeerOfPipe(int fd) {
  char link[kMaxPath];
  ReadOwnLink(fd, link);
  const bool reads = (fcntl(AppFd(fd).get(), F_GETFL) & O_ACCMODE) == O_RDONLY;
  const mode_t other_end = reads ? S_IWUSR : S_IRUSR;
  if (HasEndOfPipe(getpid(), link, other_end, true)) return {};
  const int32_t child = FindChild(link, other_end);
  return child != 0 ? ChildOf(child) : WaitPeer{};
}

WaitPeer PeerOfDescriptor(int fd) {
  const FdClass fd_class = ClassifyFd(static_cast<uint32_t>(fd));
  if (fd_class == FdClass::kSocket) return PeerOfSocket(fd);
  return fd_class == FdClass::kPipe ? PeerOfPipe(fd) : WaitPeer{};
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

// `pid` below 1: the child that ends first.
WaitPeer PeerOfChildWait(int32_t pid) {
  if (pid <= 0) pid = FindChild(nullptr, 0);
  if (pid > 0) return ChildOf(pid);
  WaitPeer peer;
  peer.kind = Kind::kChild;
  return peer;
}

WaitPeer PeerOfIoctl(int fd, uint64_t request) {
  char device[kMaxPath];
  ReadOwnLink(fd, device);
  WaitPeer peer;
  const std::string_view path(device);
  if (path.starts_with("/dev/dri/") || path.starts_with("/dev/nvidia"))
    peer.kind = Kind::kGpuDriver;
  if (peer.kind != Kind::kNone && (request & 0xffff) == kWaitVblank) peer.kind = Kind::kVsync;
  return peer;
}

// False if the process is gone, and for a listener that starts others.
bool IsItsOwnListener(const WaitPeer& peer) {
  return peer.pid > 1 && peer.process[0] != '\0' && strcmp(peer.process, "systemd") != 0;
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

std::array<WaitPeer, 3> ConnectedServers() {
  std::array<WaitPeer, 3> servers;
  Numbers fds("/proc/self/fd");
  for (int32_t fd = fds.Next(); fd >= 0; fd = fds.Next()) {
    if (ClassifyFd(static_cast<uint32_t>(fd)) != FdClass::kSocket) continue;
    const WaitPeer peer = PeerOfSocket(fd);
    if (peer.kind < Kind::kXServer) continue;
    servers[static_cast<size_t>(peer.kind) - static_cast<size_t>(Kind::kXServer)] = peer;
  }
  return servers;
}

int32_t TakePid(const char** list) {
  char* end = nullptr;
  const auto pid = static_cast<int32_t>(strtol(*list, &end, 10));
  *list = end;
  return *end == '\0' ? 0 : pid;
}

std::string PeerPhrase(const WaitPeer& peer) {
  const bool display = peer.kind == Kind::kXServer || peer.kind == Kind::kCompositor;
  const bool child = peer.kind == Kind::kChild;
  // The kernel names the process that began to listen. With sockets that systemd opens, and in
  // daemons that forked since, it is not the one that answers. A bus only passes calls on.
  const bool known = child || (peer.kind != Kind::kBus && IsItsOwnListener(peer));
  char process[64] = "", text[192];
  if (peer.pid != 0 && known) {
    // Of any other process the name says what else is on the device.
    const char* name = display || child ? peer.process : "";
    snprintf(process, sizeof(process), " (%s%spid %d%s)", name, name[0] == '\0' ? "" : ", ",
             peer.pid, peer.stopped && (display || child) ? ", stopped" : "");
  }
  snprintf(text, sizeof(text), "waiting for %s%s%s%s", kWords[static_cast<size_t>(peer.kind)],
           peer.bus_name[0] == '\0' ? "" : " ", peer.bus_name, process);
  return text;
}

}  // namespace jankbox
