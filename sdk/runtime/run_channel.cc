#include "sdk/runtime/run_channel.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/log.h"
#include "base/scoped_fd.h"

namespace jankbox {
namespace {

// Never waits: a command that does not listen loses the line.
void Send(const std::string& socket_name, const std::string& line) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // An abstract name: a zero byte, then the name.
  if (socket_name.size() + 1 > sizeof(address.sun_path)) return;
  memcpy(address.sun_path + 1, socket_name.data(), socket_name.size());
  const auto size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + socket_name.size());
  ScopedFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return;
  sendto(fd.get(), line.data(), line.size(), MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&address),
         size);
}

}  // namespace

void SendLogToRun() {
  const char* name = getenv("JANKBOX_RUN_SOCKET");
  if (name == nullptr || *name == '\0') return;
  SetLogSink([socket_name = std::string(name)](std::string_view text) {
    Send(socket_name, "error: " + std::string(text));
  });
}

}  // namespace jankbox
