#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "base/process_runner.h"
#include "tools/doctor/agent_library.h"
#include "tools/doctor/machine_check.h"

namespace jankbox::tools {
namespace {

#if defined(__aarch64__)
constexpr char kUnwinder[] = "libunwind-aarch64.so.8";
#else
constexpr char kUnwinder[] = "libunwind-x86_64.so.8";
#endif

struct Library {
  const char* name;
  const char* file;
  const char* why;
  const char* fix;
};

MachineCheck CheckLibrary(const Library& library) {
  MachineCheck check{.name = library.name};
  check.why = library.why;
  void* handle = dlopen(library.file, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    check.state = CheckState::kLimited;
    check.found = reason != nullptr ? reason : std::string(library.file) + " does not load";
    check.fix = library.fix;
    return check;
  }
  dlclose(handle);
  check.found = std::string(library.file) + " loads";
  return check;
}

MachineCheck CheckRecorder(const std::string& agent) {
  MachineCheck check{.name = "recorder", .essential = true};
  check.why = "the agent loads it into each program that has an event loop";
  const std::string path = RecorderPath(agent);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr && dlsym(handle, "jankbox_start") != nullptr) {
    check.found = path + " loads";
    return check;
  }
  const char* reason = dlerror();
  check.state = CheckState::kMissing;
  check.found = reason != nullptr ? reason : path + " does not exist";
  check.fix = "keep Jankbox's libraries in one folder";
  return check;
}

// The dynamic linker's message on stderr when /bin/true starts with the agent.
std::string PreloadComplaint(const std::string& agent) {
  ChildProcess child;
  const int error = child.Start({.argv = {"/bin/true"},
                                 .environment = {{"LD_PRELOAD", agent}},
                                 .drops_variable = [](std::string_view) { return true; },
                                 .err = ChildStream::kPiped});
  if (error != 0) return "/bin/true does not start";
  std::string complaint;
  char block[512];
  for (ssize_t n; (n = read(child.err().get(), block, sizeof(block))) > 0;) {
    complaint.append(block, static_cast<size_t>(n));
  }
  child.Wait();
  if (child.wait_status() != 0 && complaint.empty()) {
    complaint = "/bin/true fails with the agent in it";
  }
  return complaint.substr(0, complaint.find('\n'));
}

std::vector<MachineCheck> CheckAgent() {
  const std::string path = FindAgent();
  MachineCheck recorder = CheckRecorder(path.empty() ? AgentCandidates()[0] : path);
  MachineCheck agent{.name = "agent", .essential = true};
  agent.why = "jankbox run loads it into the program with LD_PRELOAD";
  MachineCheck hooks{.name = "hooks", .essential = true};
  hooks.why = "the agent finds dispatches through its hooks in poll, epoll and select";
  if (path.empty()) {
    agent.state = hooks.state = CheckState::kMissing;
    agent.found = AgentCandidates()[0] + " cannot be read";
    agent.fix = "keep bin/ and lib/ together, or set JANKBOX_AGENT to libjankbox_agent.so";
    hooks.found = "no agent";
    hooks.fix = agent.fix;
    return {agent, hooks, recorder};
  }
  agent.found = path;
  const std::string complaint = PreloadComplaint(path);
  hooks.found = complaint.empty() ? "the agent loads into /bin/true" : complaint;
  if (!complaint.empty()) {
    hooks.state = CheckState::kMissing;
    hooks.fix =
        "install the library that the message names; static and setuid programs cannot be "
        "preloaded";
  }
  return {agent, hooks, recorder};
}

}  // namespace

std::vector<MachineCheck> CheckLibraries() {
  std::vector<MachineCheck> checks = CheckAgent();
  checks.push_back(CheckLibrary({"libunwind", kUnwinder,
                                 "unwinds the sampled stacks: without it reports name no functions",
                                 "sudo apt install libunwind8"}));
  checks.push_back(
      CheckLibrary({"libelf", "libelf.so.1", "reads symbol names: without it frames are addresses",
                    "sudo apt install libelf1"}));
  checks.push_back(CheckLibrary({"libtracefs", "libtracefs.so.1",
                                 "reads the kernel's scheduling events if tracefs is writable",
                                 "sudo apt install libtracefs1"}));
  checks.push_back(
      CheckLibrary({"libcurl", "libcurl.so.4", "uploads reports: without it they stay in the spool",
                    "sudo apt install libcurl4"}));
  return checks;
}

}  // namespace jankbox::tools
