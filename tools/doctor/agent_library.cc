#include "tools/doctor/agent_library.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "tools/terminal/install_prefix.h"

namespace jankbox::tools {
namespace {

#if defined(__x86_64__)
constexpr char kMultiarch[] = "x86_64-linux-gnu";
#elif defined(__aarch64__)
constexpr char kMultiarch[] = "aarch64-linux-gnu";
#else
constexpr char kMultiarch[] = "";
#endif

}  // namespace

bool IsReadable(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

std::string RecorderPath(const std::string& agent) {
  return JoinPath(DirName(agent), JANKBOX_LIBRARY_FILE);
}

std::string JavaAgentPath(const std::string& agent) {
  return JoinPath(DirName(agent), "libjankbox_jvmti.so");
}

std::vector<std::string> AgentCandidates() {
  const std::string lib = JoinPath(InstallPrefix(), "lib");
  std::vector<std::string> candidates = {JoinPath(lib, kAgentFile)};
  if (*kMultiarch != '\0') candidates.push_back(JoinPath(JoinPath(lib, kMultiarch), kAgentFile));
  return candidates;
}

std::string FindAgent() {
  const char* chosen = getenv("JANKBOX_AGENT");
  if (chosen != nullptr && *chosen != '\0') return IsReadable(chosen) ? chosen : "";
  for (const std::string& candidate : AgentCandidates()) {
    if (IsReadable(candidate)) return candidate;
  }
  return "";
}

std::string WithoutAgent(std::string_view list) {
  std::string rest;
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find_first_of(": "));
    list.remove_prefix(std::min(entry.size() + 1, list.size()));
    const bool is_agent = entry.substr(entry.rfind('/') + 1) == kAgentFile;
    if (entry.empty() || is_agent) continue;
    rest.append(rest.empty() ? "" : ":").append(entry);
  }
  return rest;
}

std::string WithAgent(std::string_view list, std::string_view agent) {
  std::string libraries = WithoutAgent(list);
  return libraries.append(libraries.empty() ? "" : ":").append(agent);
}

}  // namespace jankbox::tools
