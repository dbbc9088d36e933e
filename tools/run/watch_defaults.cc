#include "tools/run/watch_defaults.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "sdk/api/option_entries.h"

namespace jankbox::tools {
namespace {

// If nobody says otherwise: a person at a terminal notices less than the 700 ms of production.
constexpr uint32_t kSlowMs = 100;

}  // namespace

std::string WatchEntries(const WatchOptions& options) {
  std::string text = "dir=" + Quoted(options.directory) + ",repeats=every,reports_a_day=none";
  const auto add = [&text](const char* option, const std::string& value) {
    text.append(",").append(option).append("=").append(value);
  };
  if (options.slow_ms) {
    add("slow_message_ms", std::to_string(*options.slow_ms));
  } else {
    add("slow_message_ms?", std::to_string(std::min(kSlowMs, options.anr_ms.value_or(kSlowMs))));
  }
  if (options.anr_ms) add("anr_ms", std::to_string(*options.anr_ms));
  if (options.window_s) add("window_ms", std::to_string(*options.window_s * 1000));
  if (options.min_free_mib) {
    add("min_free_mib",
        *options.min_free_mib == 0 ? "none" : std::to_string(*options.min_free_mib));
  }
  return text;
}

std::string AbsolutePath(const std::string& path) {
  if (!path.empty() && path[0] == '/') return path;
  char* current = getcwd(nullptr, 0);
  const std::string absolute = JoinPath(current != nullptr ? current : "/", path);
  free(current);
  return absolute;
}

}  // namespace jankbox::tools
