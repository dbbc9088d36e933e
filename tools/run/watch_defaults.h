// What `jankbox run` and `jankbox attach` ask of the recorder, as entries of its option table: a
// user who watches wants to see every incident, and sees shorter ones than production reports.
#ifndef JANKBOX_TOOLS_RUN_WATCH_DEFAULTS_H_
#define JANKBOX_TOOLS_RUN_WATCH_DEFAULTS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace jankbox::tools {

// Of the command line; none: not given.
struct WatchOptions {
  std::string directory;  // absolute
  std::optional<uint32_t> slow_ms;
  std::optional<uint32_t> anr_ms;
  std::optional<uint32_t> window_s;
  std::optional<uint32_t> min_free_mib;
};

// They win over all else, but for weak ones (sdk/api/option_entries.h).
std::string WatchEntries(const WatchOptions& options);

// `path` from the root.
std::string AbsolutePath(const std::string& path);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_WATCH_DEFAULTS_H_
