#include "monitors/anr/tracer_pid.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/recorded_process.h"
#include "base/scoped_fd.h"

namespace jankbox {

int32_t TracerPidOf(int32_t tid) {
  char path[64];
  snprintf(path, sizeof(path), "%s/task/%d/status", RecordedProcess::folder(), tid);
  const ScopedFd fd(open(path, O_RDONLY | O_CLOEXEC));
  char text[1024];
  const ssize_t n = fd.valid() ? read(fd.get(), text, sizeof(text) - 1) : -1;
  if (n <= 0) return 0;
  text[n] = '\0';
  const char* line = strstr(text, "\nTracerPid:");
  return line == nullptr ? 0 : atoi(line + sizeof("\nTracerPid:") - 1);
}

}  // namespace jankbox
