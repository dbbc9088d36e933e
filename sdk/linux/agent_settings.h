// What the environment of a process tells its preload agent, apart from the recorder's options.
// Before main(); ReadAgentSettings() and IsToBeRecorded() allocate nothing.
#ifndef JANKBOX_SDK_LINUX_AGENT_SETTINGS_H_
#define JANKBOX_SDK_LINUX_AGENT_SETTINGS_H_

#include "sdk/runtime/run_socket.h"

namespace jankbox {

// What `jankbox run` and `jankbox session` tell the agent alone.
struct AgentSettings {
  bool startup = false;               // recording begins before main()
  bool java = false;                  // Java VMs are to load libjankbox_jvmti.so
  char only[kMaxOnlyBytes + 1] = "";  // names of programs; "": all
  char except[kMaxOnlyBytes + 1] = "";
  // Only while this file is there, and only programs that have a library of a UI when they start:
  // of a session, most of whose programs show nothing. "": always.
  char switch_path[128] = "";
};

AgentSettings ReadAgentSettings();

// Whether a program of this process' name is to be recorded.
bool NameIsToBeRecorded(const AgentSettings& settings);

// The same, and the program is the one that was named, or those that it starts are recorded, too.
// The socket's name says whose child is recorded: jankbox-run-PARENT-…, 0 for every process.
bool IsToBeRecorded(const AgentSettings& settings);

// The option watch_threads, which counts before there is a recorder that reads all options: the
// loops of threads of these names are watched.
void WantThreadsOfOptions();

}  // namespace jankbox

#endif  // JANKBOX_SDK_LINUX_AGENT_SETTINGS_H_
