// Where the preload agent lies: beside the running binary. For `run` and `doctor`. Threads: any.
#ifndef JANKBOX_TOOLS_DOCTOR_AGENT_LIBRARY_H_
#define JANKBOX_TOOLS_DOCTOR_AGENT_LIBRARY_H_

#include <string>
#include <vector>

namespace jankbox::tools {

inline constexpr char kAgentFile[] = "libjankbox_agent.so";

// Places where the agent may lie, in the order in which they are tried: ../lib/ and
// ../lib/<multiarch>/ as seen from the real path of this binary.
std::vector<std::string> AgentCandidates();

// The agent's path: $JANKBOX_AGENT if it is set, else the first candidate that is there. ""
// if none is.
std::string FindAgent();

// Where the agent loads the recorder from: beside itself.
std::string RecorderPath(const std::string& agent);

bool IsReadable(const std::string& path);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_DOCTOR_AGENT_LIBRARY_H_
