#include "tools/terminal/install_prefix.h"

#include <limits.h>
#include <unistd.h>

#include <string_view>

#include "base/file.h"

namespace jankbox::tools {

std::string InstallPrefix() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0) return "";
  const std::string_view folder = DirName(std::string_view(path, static_cast<size_t>(length)));
  const std::string_view parent = DirName(folder);
  const bool in_libexec = folder.substr(parent.size()) == "/jankbox" &&
                          parent.substr(parent.rfind('/') + 1) == "libexec";
  return std::string(in_libexec ? DirName(parent) : parent);
}

}  // namespace jankbox::tools
