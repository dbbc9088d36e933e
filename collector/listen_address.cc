#include "collector/listen_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <memory>

namespace jankbox::collector {
namespace {

bool IsLoopbackAddress(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    return (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
  }
  if (address->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
  }
  return false;
}

}  // namespace

Result<ListenAddress> ParseListenAddress(std::string_view text) {
  const Status bad(StatusCode::kInvalidArgument,
                   "\"" + std::string(text) + "\" is not HOST:PORT, as in 127.0.0.1:8750");
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad;
  }
  ListenAddress address;
  address.host = std::string(host);
  const auto [end, error] =
      std::from_chars(port.data(), port.data() + port.size(), address.port, 10);
  const bool is_port = error == std::errc() && end == port.data() + port.size();
  if (host.empty() || !is_port || address.port < 0 || address.port > 65535) return bad;
  return address;
}

Result<bool> IsLoopback(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (error != 0) {
    return Status(StatusCode::kInvalidArgument,
                  "cannot resolve \"" + host + "\": " + gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  bool loopback = found != nullptr;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    loopback = loopback && IsLoopbackAddress(at->ai_addr);
  }
  return loopback;
}

std::string ListenUrl(const std::string& host, int port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return "http://" + (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace jankbox::collector
