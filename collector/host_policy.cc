#include "collector/host_policy.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <optional>

namespace jankbox::collector {
namespace {

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// The header without port and brackets; none if it is malformed.
std::optional<std::string> HostOf(std::string_view header) {
  size_t end = header.find(':');
  std::string_view host = header.substr(0, end);
  if (!header.empty() && header.front() == '[') {
    const size_t bracket = header.find(']');
    if (bracket == std::string_view::npos) return std::nullopt;
    host = header.substr(1, bracket - 1);
    end = bracket + 1 < header.size() ? bracket + 1 : std::string_view::npos;
  }
  if (end != std::string_view::npos) {
    const std::string_view port = header.substr(end);
    const bool digits =
        std::all_of(port.begin() + 1, port.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (port.front() != ':' || !digits) return std::nullopt;
  }
  if (host.empty()) return std::nullopt;
  return LowerCase(host);
}

bool IsAddressLiteral(const std::string& host) {
  in6_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

}  // namespace

HostPolicy::HostPolicy(const std::string& listen_host, const std::vector<std::string>& extra_names,
                       bool allow_remote)
    : hosts_{"localhost", "127.0.0.1", "::1", LowerCase(listen_host)},
      allow_literals_(allow_remote) {
  for (const std::string& name : extra_names) hosts_.push_back(LowerCase(name));
}

bool HostPolicy::Allows(std::string_view header) const {
  const std::optional<std::string> host = HostOf(header);
  if (!host.has_value()) return false;
  if (std::find(hosts_.begin(), hosts_.end(), *host) != hosts_.end()) return true;
  return allow_literals_ && IsAddressLiteral(*host);
}

}  // namespace jankbox::collector
