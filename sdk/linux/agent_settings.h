// What the environment of a process tells its preload agent, apart from the recorder's options.
// Before main(); ReadSettings() and IsToBeRecorded() allocate nothing.
#ifndef JANKBOX_SDK_LINUX_AGENT_SETTINGS_H_
#define JANKBOX_SDK_LINUX_AGENT_SETTINGS_H_

#include "sdk/runtime/run_socket.h"

namespace jankbox {

// What `jankbox run` and `jankbox session` tell the agent alone.
struct AgentSettings {
  bool startup = false;               // recording begins before main()
  char only[kMaxOnlyBytes + 1] = "";  // names of programs; "": all
  char except[kMaxOnlyBytes + 1] = "";
  // Only while this file is there, and only programs that have a library of a UI when they start:
  // of a session, most of whose programs show nothing. "": always.
  char switch_path[128] = "";
};

AgentSettings ReadSettings();

// The socket's name says whose child is recorded: jankbox-run-PARENT-…, 0 for every process.
bool IsToBeRecorded(const AgentSettings& settings);

// The option watch_threads, which counts before there is a recorder that reads all options.
void WantThreads();

}  // namespace jankbox

#endif  // JANKBOX_SDK_LINUX_AGENT_SETTINGS_H_
