#include "base/file.h"
#include "tracer/clock/tick_clock.h"

namespace jankbox {

TickSource ChooseTickSource() {
#if defined(__x86_64__)
  // The kernel keeps its own clocksource on tsc only while it finds it invariant and in step on all
  // CPUs.
  const std::string source =
      ReadProcFile("/sys/devices/system/clocksource/clocksource0/current_clocksource", 64);
  if (source.rfind("tsc", 0) == 0) return TickSource::kTsc;
#elif defined(__aarch64__)
  return TickSource::kCntvct;
#endif
  return TickSource::kClockGettime;
}

}  // namespace jankbox
