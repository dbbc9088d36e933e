// What this machine permits, each finding with why it matters and its mend. Used by `doctor`; each
// check tries the real thing on this process rather than reading a setting. Threads: one; takes
// some tens of milliseconds of CPU.
#ifndef JANKBOX_TOOLS_DOCTOR_MACHINE_CHECK_H_
#define JANKBOX_TOOLS_DOCTOR_MACHINE_CHECK_H_

#include <string>
#include <vector>

namespace jankbox::tools {

enum class CheckState { kOk, kLimited, kMissing };

struct MachineCheck {
  std::string name;        // stable: a key of `doctor --json`
  bool essential = false;  // nothing is recorded where it is missing
  CheckState state = CheckState::kOk;
  std::string found;
  std::string why;
  std::string mend;  // empty where nothing needs mending
};

// system_checks.cc: kernel, page size, clocks.
std::vector<MachineCheck> CheckSystem();
// sampling_checks.cc: tracefs, perf and its memory, schedstat, system calls of blocked threads.
std::vector<MachineCheck> CheckSampling();
// library_checks.cc: libraries loaded at run time, the agent, whether it can be preloaded.
std::vector<MachineCheck> CheckLibraries();
// storage_checks.cc: where rings and reports go.
std::vector<MachineCheck> CheckStorage(const std::string& directory);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_DOCTOR_MACHINE_CHECK_H_
