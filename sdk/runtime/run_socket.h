// What `jankbox run` and the programs that it records agree on. SendToRun() sends one datagram to
// the abstract socket that JANKBOX_RUN_SOCKET names, for the recorder and the preload agent. It
// never waits: a command that does not listen loses it. Cold.
#ifndef JANKBOX_SDK_RUNTIME_RUN_SOCKET_H_
#define JANKBOX_SDK_RUNTIME_RUN_SOCKET_H_

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/scoped_fd.h"

namespace jankbox {

// Of the names in JANKBOX_RUN_AGENT, whose programs are recorded.
inline constexpr size_t kMaxOnlyBytes = 255;

// Null: there is no such command.
inline const char* RunSocketName() { return getenv("JANKBOX_RUN_SOCKET"); }

// Whether it wants the program recorded from before main() on.
inline bool RunWantsStartUp() {
  const char* agent = getenv("JANKBOX_RUN_AGENT");
  return agent != nullptr && strstr(agent, "startup=1") != nullptr;
}

// Whether the program is about to show its first window, when the recorder starts in it.
inline bool RunAwaitsWindow() { return RunSocketName() != nullptr && !RunWantsStartUp(); }

// The beginning of that name; a pid follows, see IsToBeRecorded(), then the command's own.
inline constexpr char kRunSocketPrefix[] = "jankbox-run-";

// The command if it started this very process, and will know how it ends. 0: another one did.
inline int ParentRunCommand() {
  const char* name = RunSocketName();
  constexpr size_t kBytes = sizeof(kRunSocketPrefix) - 1;
  if (name == nullptr || strncmp(name, kRunSocketPrefix, kBytes) != 0) return 0;
  char* end = nullptr;
  strtol(name + kBytes, &end, 10);
  const long command = *end == '-' ? strtol(end + 1, nullptr, 10) : 0;
  return command == getppid() ? static_cast<int>(command) : 0;
}

// False: it did not arrive.
inline bool SendToRun(std::string_view socket_name, std::string_view line) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // An abstract name: a zero byte, then the name.
  if (socket_name.size() + 1 > sizeof(address.sun_path)) return false;
  memcpy(address.sun_path + 1, socket_name.data(), socket_name.size());
  const auto size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + socket_name.size());
  ScopedFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return false;
  return sendto(fd.get(), line.data(), line.size(), MSG_NOSIGNAL,
                reinterpret_cast<sockaddr*>(&address), size) >= 0;
}

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_RUN_SOCKET_H_
