#ifndef JANKBOX_BASE_FILES_SECCOMP_H_
#define JANKBOX_BASE_FILES_SECCOMP_H_

#include <string>

#include "base/file.h"

namespace jankbox {

// A filter may kill the process for a system call that it does not know. True if /proc does not
// say.
inline bool MayBeFiltered() {
  return ReadProcFile("/proc/thread-self/status").find("\nSeccomp:\t0\n") == std::string::npos;
}

}  // namespace jankbox

#endif  // JANKBOX_BASE_FILES_SECCOMP_H_
