#include "monitors/looper/display_sockets.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace jankbox {
namespace {

constexpr size_t kMostAsked = 16;

// Bits stand for descriptors modulo 64: those of one bit that are asked for.
constexpr int kMostOfOneBit = 1024;

// As read() from the file's start, without being a place where the thread may be cancelled.
// `text` is zero-terminated.
bool ReadText(const char* path, char* text, size_t size) {
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const long got = syscall(SYS_read, fd, text, size - 1);
  syscall(SYS_close, fd);
  text[std::max<long>(got, 0)] = '\0';
  return got > 0;
}

DisplayServer DisplayOfSelect(const WaitCall& call) {
  size_t asked = 0;
  for (int fd = 0; call.sets[0] != nullptr && fd < std::min(call.set_bits, int{FD_SETSIZE}); ++fd) {
    if (!FD_ISSET(fd, call.sets[0])) continue;
    const DisplayServer server = DisplayOfSocket(fd);
    if (server != DisplayServer::kNone || ++asked == kMostAsked) return server;
  }
  return DisplayServer::kNone;
}

}  // namespace

DisplayServer DisplayOfSocket(int fd) {
  struct {
    sockaddr_un address;
    char end;  // the path may have no zero at its end
  } server{};
  socklen_t size = sizeof(server.address);
  auto* address = reinterpret_cast<sockaddr*>(&server.address);
  if (fd < 0 || getpeername(fd, address, &size) != 0 || address->sa_family != AF_UNIX) {
    return DisplayServer::kNone;
  }
  const char* path = server.address.sun_path;
  return DisplayServerAt(path[0] == '\0' ? path + 1 : path);
}

DisplayServer DisplayOfEpoll(int epoll_fd) {
  static constexpr char kTarget[] = "tfd:";
  char path[32 + 16], text[2048];
  snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", epoll_fd);
  if (!ReadText(path, text, sizeof(text))) return DisplayServer::kNone;
  for (const char* at = strstr(text, kTarget); at != nullptr; at = strstr(at, kTarget)) {
    at += strlen(kTarget);
    const DisplayServer server = DisplayOfSocket(atoi(at));
    if (server != DisplayServer::kNone) return server;
  }
  return DisplayServer::kNone;
}

DisplayServer DisplayOfWait(const WaitCall& call) {
  if (call.family == WaitFamily::kEpoll) return DisplayOfEpoll(call.fd);
  if (call.family == WaitFamily::kSelect) return DisplayOfSelect(call);
  if (call.family != WaitFamily::kPoll) return DisplayServer::kNone;
  for (size_t i = 0; i < std::min(call.fd_count, kMostAsked); ++i) {
    const DisplayServer server = DisplayOfSocket(call.Descriptor(i));
    if (server != DisplayServer::kNone) return server;
  }
  return DisplayServer::kNone;
}

DisplayServer DisplayOfLoop(const LoopWaits::Awaited& awaited) {
  if (awaited.epoll_fd >= 0) return DisplayOfEpoll(awaited.epoll_fd);
  for (int fd = 0; awaited.descriptors != 0 && fd < kMostOfOneBit; ++fd) {
    if ((awaited.descriptors >> (fd % 64) & 1) == 0) continue;
    const DisplayServer server = DisplayOfSocket(fd);
    if (server != DisplayServer::kNone) return server;
  }
  return DisplayServer::kNone;
}

}  // namespace jankbox
