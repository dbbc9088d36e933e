#ifndef JANKBOX_BASE_FILES_SECCOMP_H_
#define JANKBOX_BASE_FILES_SECCOMP_H_

#include <sys/prctl.h>

namespace jankbox {

// A filter may kill the process for a system call that it does not know; Jankbox names its threads
// by this one. True if the kernel does not say.
inline bool MayBeFiltered() { return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0; }

}  // namespace jankbox

#endif  // JANKBOX_BASE_FILES_SECCOMP_H_
