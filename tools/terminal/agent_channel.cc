#include "tools/terminal/agent_channel.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/clock.h"
#include "base/uuid.h"
#include "sdk/linux/java_ui.h"
#include "sdk/runtime/run_socket.h"

namespace jankbox::tools {
namespace {

constexpr struct {
  std::string_view prefix;
  AgentMessage::Kind kind;
} kKinds[] = {{"error: ", AgentMessage::Kind::kError},
              {"watched: ", AgentMessage::Kind::kWatched},
              {"instance: ", AgentMessage::Kind::kInstance},
              {"possible: ", AgentMessage::Kind::kPossible},
              {"counted: ", AgentMessage::Kind::kCounted},
              {"recognised: ", AgentMessage::Kind::kRecognised},
              {kJavaPrefix, AgentMessage::Kind::kJava}};
constexpr size_t kMaxDatagramBytes = 2048;

// Agents of a program that changed its user still report to root.
bool IsTrusted(const msghdr& message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(const_cast<msghdr*>(&message), part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) continue;
    ucred sender{};
    memcpy(&sender, CMSG_DATA(part), sizeof(sender));
    return geteuid() == 0 || sender.uid == geteuid();
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<AgentChannel>> AgentChannel::Open(pid_t parent) {
  ScopedFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return Status::FromErrno(errno, "socket");
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
  std::string name = kRunSocketPrefix + std::to_string(parent) + "-" + std::to_string(getpid()) +
                     "-" + NewUuid(RealtimeNs() / kNsPerMs);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path + 1, name.data(), name.size());  // far below sizeof(sun_path)
  const socklen_t length =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    return Status::FromErrno(errno, "bind");
  }
  return std::unique_ptr<AgentChannel>(new AgentChannel(std::move(fd), std::move(name)));
}

std::optional<AgentMessage> AgentChannel::Next() {
  for (;;) {
    char text[kMaxDatagramBytes];
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
    iovec part{text, sizeof(text)};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    const ssize_t n = recvmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    const std::string_view datagram(text, static_cast<size_t>(n));
    if (!IsTrusted(message)) continue;
    for (const auto& [prefix, kind] : kKinds) {
      if (!datagram.starts_with(prefix)) continue;
      AgentMessage found = {kind, std::string(datagram.substr(prefix.size()))};
      while (!found.text.empty() && (found.text.back() == '\n' || found.text.back() == '\0')) {
        found.text.pop_back();
      }
      return found;
    }
  }
}

}  // namespace jankbox::tools
