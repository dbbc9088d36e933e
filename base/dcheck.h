// DCHECK(condition): what a caller must keep to (REQUIRES in a header's comment). A debug build
// says where it was broken and aborts; a release build does not evaluate the condition, since the
// SDK never stops its host. Never for input: files and other processes may hold anything.
#ifndef JANKBOX_BASE_DCHECK_H_
#define JANKBOX_BASE_DCHECK_H_

#if defined(NDEBUG)

#define DCHECK(condition) static_cast<void>(sizeof((condition) ? 1 : 0))

#else

#include <stdio.h>
#include <unistd.h>

#include <cstdlib>

namespace jankbox {

[[noreturn]] inline void DcheckFailed(const char* condition, const char* file, int line) {
  dprintf(STDERR_FILENO, "%s:%d: DCHECK failed: %s\n", file, line, condition);
  abort();
}

}  // namespace jankbox

#define DCHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::jankbox::DcheckFailed(#condition, __FILE__, __LINE__))

#endif

#endif  // JANKBOX_BASE_DCHECK_H_
