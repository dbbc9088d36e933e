// Which Host headers are answered. A page of a foreign site can make its own name resolve to this
// machine (DNS rebinding) but cannot make the browser send another Host than that name, so names
// outside the list are refused. THREAD-SAFE: immutable after construction.
#ifndef JANKBOX_COLLECTOR_HOST_POLICY_H_
#define JANKBOX_COLLECTOR_HOST_POLICY_H_

#include <string>
#include <string_view>
#include <vector>

namespace jankbox::collector {

class HostPolicy {
 public:
  // Allows localhost, 127.0.0.1, [::1], `listen_host` and `extra_names`; if `allow_remote`, any
  // address literal too (rebinding needs a name).
  HostPolicy(const std::string& listen_host, const std::vector<std::string>& extra_names,
             bool allow_remote);

  // `header` is the Host header as received: a name or address with an optional port.
  bool Allows(std::string_view header) const;

 private:
  std::vector<std::string> hosts_;
  bool allow_literals_;
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_HOST_POLICY_H_
