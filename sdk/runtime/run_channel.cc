#include "sdk/runtime/run_channel.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/log.h"
#include "base/scoped_fd.h"
#include "tracer/ring/process_identity.h"

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

// Empty if no command listens.
const std::string& SocketName() {
  static const auto* name = [] {
    const char* text = getenv("JANKBOX_RUN_SOCKET");
    return new std::string(text != nullptr ? text : "");
  }();
  return *name;
}

}  // namespace

void SendLogToRun() {
  if (SocketName().empty()) return;
  SetLogSink([](std::string_view text) { Send(SocketName(), "error: " + std::string(text)); });
}

void TellRun(const WatchedLoopNote& note) {
  if (SocketName().empty()) return;
  Send(SocketName(), "watched: " + std::to_string(getpid()) + "\t" + std::to_string(note.index) +
                         "\t" + (note.ended ? "1" : "0") + "\t" + std::to_string(note.messages) +
                         "\t" + note.loop + "\t" + note.thread + "\t" + CurrentProcessName());
}

}  // namespace jankbox
