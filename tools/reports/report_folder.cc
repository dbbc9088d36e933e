#include "tools/reports/report_folder.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"

namespace jankbox::tools {

std::string DefaultReportDirectory() {
  const auto set = [](const char* name) {
    const char* value = getenv(name);
    return value != nullptr ? std::string(value) : std::string();
  };
  if (!set("JANKBOX_DIR").empty()) return set("JANKBOX_DIR");
  if (!set("XDG_STATE_HOME").empty()) return JoinPath(set("XDG_STATE_HOME"), "jankbox");
  std::string home = set("HOME");
  const passwd* user = home.empty() ? getpwuid(geteuid()) : nullptr;
  if (user != nullptr) home = user->pw_dir;
  return JoinPath(home, ".local/state/jankbox");
}

}  // namespace jankbox::tools
