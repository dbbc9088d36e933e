// What `jankbox attach` is asked for on its command line. Plain data.
#ifndef JANKBOX_TOOLS_ATTACH_ATTACH_OPTIONS_H_
#define JANKBOX_TOOLS_ATTACH_ATTACH_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace jankbox::tools {

struct AttachOptions {
  int32_t pid = 0;
  std::string directory;  // of the reports; empty: the default folder
  // None: the environment's, else as for `jankbox run`.
  std::optional<uint32_t> slow_ms;
  std::optional<uint32_t> anr_ms;
  std::optional<uint32_t> window_s;
  std::optional<uint32_t> min_free_mib;
  std::optional<double> seconds;     // to watch it for; none: until it ends
  std::vector<std::string> threads;  // names or ids of those that are watched besides the main one
  bool quiet = false;                // only errors
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ATTACH_ATTACH_OPTIONS_H_
