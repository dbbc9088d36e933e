// The checks of `jankbox doctor`: what this machine supports, why it matters and how to fix it.
// Each check tries the feature in this process instead of reading a setting. One thread; takes some
// tens of milliseconds of CPU.
#ifndef JANKBOX_TOOLS_DOCTOR_MACHINE_CHECK_H_
#define JANKBOX_TOOLS_DOCTOR_MACHINE_CHECK_H_

#include <string>
#include <vector>

namespace jankbox::tools {

enum class CheckState { kOk, kLimited, kMissing };

struct MachineCheck {
  std::string name;        // stable: a key of `doctor --json`
  bool essential = false;  // Jankbox records nothing without it
  CheckState state = CheckState::kOk;
  std::string found;
  std::string why;
  std::string fix;  // empty if there is no problem
};

// system_checks.cc: kernel, page size, clocks.
std::vector<MachineCheck> CheckSystem();
// sampling_checks.cc: tracefs, perf and its memory, schedstat, system calls of blocked threads.
std::vector<MachineCheck> CheckSampling();
// library_checks.cc: libraries loaded at run time, the agent, whether it can be preloaded.
std::vector<MachineCheck> CheckLibraries();
// storage_checks.cc: the folders of rings and reports.
std::vector<MachineCheck> CheckStorage(const std::string& directory);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_DOCTOR_MACHINE_CHECK_H_
