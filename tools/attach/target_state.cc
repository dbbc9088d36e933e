#include "tools/attach/target_state.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/file.h"
#include "base/recorded_process.h"

namespace jankbox::tools {
namespace {

constexpr char kMount[] = "/sys/fs/cgroup";
constexpr size_t kMaxBytes = 4096;

// The device of tty_nr, the fifth number after the name in /proc/PID/stat, which has the minor
// number's low eight bits first, then the major number, then the rest (new_encode_dev() of Linux).
dev_t ControllingTerminal(int32_t pid) {
  const std::string stat = ReadProcFile("/proc/" + std::to_string(pid) + "/stat", kMaxBytes);
  const size_t name_end = stat.rfind(')');
  unsigned terminal = 0;
  if (name_end == std::string::npos ||
      sscanf(stat.c_str() + name_end + 1, " %*c %*d %*d %*d %u", &terminal) != 1) {
    return 0;
  }
  return makedev((terminal >> 8) & 0xfff, (terminal & 0xff) | ((terminal >> 12) & 0xfff00));
}

// The part of `text` before `end`, which is taken out of it with `end`.
std::string_view Take(std::string_view* text, char end) {
  const std::string_view part = text->substr(0, text->find(end));
  text->remove_prefix(std::min(part.size() + 1, text->size()));
  return part;
}

}  // namespace

uint64_t TerminalsOf(int32_t pid) {
  const dev_t any_terminal = makedev(5, 0);  // /dev/tty: the process's own one
  const dev_t terminal = ControllingTerminal(pid);
  if (terminal == 0) return 0;
  uint64_t found = 0;
  for (int fd = 0; fd < 16; ++fd) {
    if (fd == STDOUT_FILENO || fd == STDERR_FILENO) continue;
    struct stat file {};
    const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
    if (stat(path.c_str(), &file) != 0 || !S_ISCHR(file.st_mode)) continue;
    if (file.st_rdev == any_terminal || file.st_rdev == terminal) found |= uint64_t{1} << fd;
  }
  return found;
}

std::vector<std::string> FreezerFiles(std::string_view cgroups) {
  std::vector<std::string> files;
  while (!cgroups.empty()) {
    std::string_view path = Take(&cgroups, '\n');
    Take(&path, ':');
    const std::string_view controllers = Take(&path, ':');
    if (path.size() < 2) continue;  // the root is never frozen
    if (controllers.empty()) {
      files.push_back(kMount + std::string(path) + "/cgroup.events");
      files.push_back(kMount + ("/unified" + std::string(path)) + "/cgroup.events");
    } else if (controllers.find("freezer") != std::string_view::npos) {
      files.push_back(kMount + ("/freezer" + std::string(path)) + "/freezer.state");
    }
  }
  return files;
}

bool SaysFrozen(std::string_view text) {
  return text.find("frozen 1") != std::string_view::npos || text.starts_with("FROZEN");
}

void TargetFreezer::Find() {
  files_ =
      FreezerFiles(ReadProcFile(std::string(RecordedProcess::folder()) + "/cgroup", kMaxBytes));
  std::erase_if(files_, [](const std::string& file) { return access(file.c_str(), R_OK) != 0; });
}

bool TargetFreezer::IsFrozen() const {
  return std::any_of(files_.begin(), files_.end(), [](const std::string& file) {
    return SaysFrozen(ReadProcFile(file, kMaxBytes));
  });
}

}  // namespace jankbox::tools
