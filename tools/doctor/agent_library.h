// The path of the preload agent, which is beside the running binary. For `run` and `doctor`.
// Threads: any.
#ifndef JANKBOX_TOOLS_DOCTOR_AGENT_LIBRARY_H_
#define JANKBOX_TOOLS_DOCTOR_AGENT_LIBRARY_H_

#include <string>
#include <string_view>
#include <vector>

namespace jankbox::tools {

inline constexpr char kAgentFile[] = "libjankbox_agent.so";

// Possible paths of the agent, in the order in which they are tried: ../lib/ and
// ../lib/<multiarch>/ as seen from the real path of this binary.
std::vector<std::string> AgentCandidates();

// The agent's path: $JANKBOX_AGENT if it is set, else the first candidate that is there. ""
// if none is.
std::string FindAgent();

// The path from which the agent loads the recorder: its own folder.
std::string RecorderPath(const std::string& agent);

// The path of the library that a Java VM loads besides: in the agent's folder.
std::string JavaAgentPath(const std::string& agent);

// `list` of LD_PRELOAD with `agent` at its end, and not twice. An entry is an agent if it has the
// agent's file name: another version may have added it.
std::string WithAgent(std::string_view list, std::string_view agent);
std::string WithoutAgent(std::string_view list);

bool IsReadable(const std::string& path);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_DOCTOR_AGENT_LIBRARY_H_
