#include "monitors/incident/oom_kills.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/file.h"

namespace jankbox {
namespace {

constexpr size_t kMaxBytes = 4096;

// The next line of `text`, which loses it.
std::string_view TakeLine(std::string_view* text) {
  const size_t end = std::min(text->find('\n'), text->size());
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return line;
}

}  // namespace

std::string OomFileOf(std::string_view membership) {
  std::string v1;
  while (!membership.empty()) {
    const std::string_view line = TakeLine(&membership);  // "4:memory:/user.slice/app.scope"
    const size_t controllers = line.find(':') + 1;
    const size_t path = line.find(':', controllers) + 1;
    if (controllers == 0 || path == 0) continue;
    const std::string_view of = line.substr(controllers, path - 1 - controllers);
    std::string folder(line.substr(path));
    if (folder == "/") folder.clear();
    const std::string v2 = "/sys/fs/cgroup" + folder + "/memory.events";
    if (of.empty() && access(v2.c_str(), R_OK) == 0) return v2;
    if (of == "memory") v1 = "/sys/fs/cgroup/memory" + folder + "/memory.oom_control";
  }
  return access(v1.c_str(), R_OK) == 0 ? v1 : "";
}

std::optional<uint64_t> ReadOomKills(const std::string& file) {
  constexpr std::string_view kName = "oom_kill ";
  const std::string content = ReadProcFile(file, kMaxBytes);
  std::string_view rest(content);
  while (!rest.empty()) {
    std::string_view line = TakeLine(&rest);
    if (!line.starts_with(kName)) continue;
    line.remove_prefix(kName.size());
    uint64_t kills = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), kills);
    if (error == std::errc() && end == line.data() + line.size()) return kills;
  }
  return std::nullopt;
}

}  // namespace jankbox
