// `jankbox doctor`: checks what this machine supports, and prints for each problem how to fix it.
#ifndef JANKBOX_TOOLS_DOCTOR_DOCTOR_COMMAND_H_
#define JANKBOX_TOOLS_DOCTOR_DOCTOR_COMMAND_H_

#include <string>
#include <vector>

#include "tools/doctor/machine_check.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {

struct DoctorOptions {
  std::string directory;  // of the spool; empty: the default folder
  bool json = false;
  bool verbose = false;  // explain every check, not only those that found a problem
};

// Prints; kExitOk if everything essential works, else kExitFailed.
int RunDoctor(const DoctorOptions& options);

std::string RenderChecks(const TextStyle& style, const std::vector<MachineCheck>& checks,
                         bool verbose);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_DOCTOR_DOCTOR_COMMAND_H_
