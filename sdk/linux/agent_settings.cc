#include "sdk/linux/agent_settings.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

#include "monitors/looper/watched_loops.h"
#include "sdk/api/option_entries.h"

namespace jankbox {

AgentSettings ReadSettings() {
  AgentSettings settings;
  const char* text = getenv("JANKBOX_RUN_AGENT");
  OptionEntries entries(text != nullptr ? text : "");
  OptionEntry entry;
  while (entries.Next(&entry)) {
    if (entry.name == "startup") settings.startup = entry.raw_value == "1";
    if (entry.name == "only") {
      CopyUnquoted(entry.raw_value, std::span(settings.only, sizeof(settings.only) - 1));
    }
  }
  return settings;
}

bool IsToBeRecorded(const AgentSettings& settings) {
  static constexpr char kPrefix[] = "jankbox-run-";
  const bool of_name =
      settings.only[0] == '\0' || NameIsListed(settings.only, program_invocation_short_name);
  const char* name = getenv("JANKBOX_RUN_SOCKET");
  if (name == nullptr || strncmp(name, kPrefix, sizeof(kPrefix) - 1) != 0) return of_name;
  const long parent = strtol(name + sizeof(kPrefix) - 1, nullptr, 10);
  return of_name && (parent == 0 || parent == getppid());
}

void WantThreads() {
  constexpr size_t kMaxBytes = 1024;
  for (const char* variable : {"JANKBOX_OPTIONS", "JANKBOX_RUN_OPTIONS"}) {  // the last one wins
    const char* text = getenv(variable);
    if (text == nullptr) continue;
    OptionEntries entries(text);
    OptionEntry entry;
    while (entries.Next(&entry)) {
      if (entry.name != "watch_threads") continue;
      char names[kMaxBytes] = "";
      CopyUnquoted(entry.raw_value, std::span(names, sizeof(names) - 1));
      WatchedLoops::SetWanted(names);
    }
  }
}

}  // namespace jankbox
