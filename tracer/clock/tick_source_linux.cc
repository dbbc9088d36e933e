#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "base/file.h"
#include "tracer/clock/tick_clock.h"

namespace jankbox {

TickSource ChooseTickSource() {
#if defined(__x86_64__)
  // The kernel keeps its own clocksource on tsc only while it finds it invariant and in step on all
  // CPUs.
  char source[3] = {};
  const ScopedFd fd(open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                         O_RDONLY | O_CLOEXEC));
  const bool known = fd.valid() && read(fd.get(), source, sizeof(source)) == sizeof(source);
  if (known && memcmp(source, "tsc", sizeof(source)) == 0) return TickSource::kTsc;
#elif defined(__aarch64__)
  return TickSource::kCntvct;
#endif
  return TickSource::kClockGettime;
}

}  // namespace jankbox
