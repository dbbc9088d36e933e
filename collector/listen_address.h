// The address on which the collector listens (HOST:PORT), and whether only this machine can reach
// it. Called at start, on the main thread; allocates and may ask the resolver.
#ifndef JANKBOX_COLLECTOR_LISTEN_ADDRESS_H_
#define JANKBOX_COLLECTOR_LISTEN_ADDRESS_H_

#include <string>
#include <string_view>

#include "base/status.h"

namespace jankbox::collector {

struct ListenAddress {
  std::string host;  // a name or an address, IPv6 without brackets
  int port = 0;      // 0: any free one
};

// "127.0.0.1:8750", "[::1]:0", "localhost:8750".
Result<ListenAddress> ParseListenAddress(std::string_view text);

// True if every address that `host` resolves to is of the loopback interface.
Result<bool> IsLoopback(const std::string& host);

// "http://HOST:PORT", IPv6 in brackets.
std::string ListenUrl(const std::string& host, int port);

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_LISTEN_ADDRESS_H_
