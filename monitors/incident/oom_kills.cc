#include "monitors/incident/oom_kills.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/file.h"

namespace jankbox {
namespace {

constexpr size_t kMaxBytes = 4096;
constexpr size_t kMaxPath = 512;

// The path of `file` below `mount` for the cgroup `folder`, if it can be read.
bool Find(const char* mount, std::string_view folder, const char* file, char (&path)[kMaxPath]) {
  if (folder == "/") folder = {};
  const int length = snprintf(path, kMaxPath, "%s%.*s/%s", mount, static_cast<int>(folder.size()),
                              folder.data(), file);
  return length > 0 && static_cast<size_t>(length) < kMaxPath && access(path, R_OK) == 0;
}

}  // namespace

std::string OomFileOf(std::string_view membership) {
  char v2[kMaxPath], v1[kMaxPath] = "";
  while (!membership.empty()) {
    // "4:memory:/user.slice/app.scope", or "0::/user.slice/app.scope" of cgroup v2.
    const std::string_view line = membership.substr(0, membership.find('\n'));
    membership.remove_prefix(std::min(line.size() + 1, membership.size()));
    const size_t controllers = line.find(':') + 1;
    const size_t path = line.find(':', controllers) + 1;
    if (controllers == 0 || path == 0) continue;
    const std::string_view of = line.substr(controllers, path - 1 - controllers);
    const std::string_view folder = line.substr(path);
    if (of.empty() && Find("/sys/fs/cgroup", folder, "memory.events", v2)) return v2;
    if (of == "memory" && !Find("/sys/fs/cgroup/memory", folder, "memory.oom_control", v1)) {
      v1[0] = '\0';
    }
  }
  return v1;
}

std::optional<uint64_t> ReadOomKills(const std::string& file) {
  constexpr char kName[] = "oom_kill ";
  const std::string content = ReadProcFile(file, kMaxBytes);
  const char* at = content.c_str();
  while (strncmp(at, kName, strlen(kName)) != 0) {
    at = strchr(at, '\n');
    if (at == nullptr) return std::nullopt;
    ++at;
  }
  char* end = nullptr;
  errno = 0;
  const uint64_t kills = strtoull(at + strlen(kName), &end, 10);
  const bool whole = end != at + strlen(kName) && (*end == '\n' || *end == '\0') && errno == 0;
  return whole ? std::optional<uint64_t>(kills) : std::nullopt;
}

}  // namespace jankbox
