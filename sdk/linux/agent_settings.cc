#include "sdk/linux/agent_settings.h"

#include <link.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

#include "monitors/looper/watched_loops.h"
#include "sdk/api/option_entries.h"
#include "sdk/runtime/run_socket.h"

namespace jankbox {
namespace {

// The beginnings of the file names of libraries that only programs with windows have. Qt and SDL
// load those of the display later.
constexpr std::string_view kUiLibraries[] = {
    "libX11.so",    "libxcb.so",      "libwayland-client.so", "libQt5Gui.so",
    "libQt6Gui.so", "libSDL2-2.0.so", "libSDL3.so",           "libSDL-1.2.so",
};

int IsUiLibrary(dl_phdr_info* info, size_t /*size*/, void* /*argument*/) {
  const std::string_view path = info->dlpi_name;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string_view library : kUiLibraries) {
    if (name.substr(0, library.size()) == library) return 1;
  }
  return 0;
}

bool HasUiLibrary() { return dl_iterate_phdr(IsUiLibrary, nullptr) != 0; }

template <size_t kBytes>
void CopyText(const OptionEntry& entry, char (&text)[kBytes]) {
  CopyUnquoted(entry.raw_value, std::span(text, kBytes - 1));
}

}  // namespace

AgentSettings ReadAgentSettings() {
  AgentSettings settings;
  settings.startup = RunWantsStartUp();
  const char* text = getenv("JANKBOX_RUN_AGENT");
  OptionEntries entries(text != nullptr ? text : "");
  OptionEntry entry;
  while (entries.Next(&entry)) {
    if (entry.name == "java") settings.java = entry.raw_value == "1";
    if (entry.name == "only") CopyText(entry, settings.only);
    if (entry.name == "except") CopyText(entry, settings.except);
    if (entry.name == "switch") CopyText(entry, settings.switch_path);
  }
  return settings;
}

bool NameIsToBeRecorded(const AgentSettings& settings) {
  const char* name = program_invocation_short_name;
  if (NameIsListed(settings.except, name)) return false;
  return settings.only[0] == '\0' || NameIsListed(settings.only, name);
}

bool IsToBeRecorded(const AgentSettings& settings) {
  const bool has_switch = settings.switch_path[0] != '\0';
  if (has_switch && (access(settings.switch_path, F_OK) != 0 || !HasUiLibrary())) return false;
  const bool of_name = NameIsToBeRecorded(settings);
  const char* name = RunSocketName();
  constexpr size_t kPrefixBytes = sizeof(kRunSocketPrefix) - 1;
  if (name == nullptr || strncmp(name, kRunSocketPrefix, kPrefixBytes) != 0) return of_name;
  const long parent = strtol(name + kPrefixBytes, nullptr, 10);
  return of_name && (parent == 0 || parent == getppid());
}

void WantThreadsOfOptions() {
  constexpr size_t kMaxBytes = 1024;
  for (const char* variable : {"JANKBOX_OPTIONS", "JANKBOX_RUN_OPTIONS"}) {  // the last one wins
    const char* text = getenv(variable);
    if (text == nullptr) continue;
    OptionEntries entries(text);
    OptionEntry entry;
    while (entries.Next(&entry)) {
      if (entry.name != "watch_threads") continue;
      char names[kMaxBytes] = "";
      CopyText(entry, names);
      WatchedLoops::SetWanted(names);
    }
  }
}

}  // namespace jankbox
