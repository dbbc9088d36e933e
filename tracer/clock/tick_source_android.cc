#include "tracer/clock/tick_clock.h"

namespace jankbox {

TickSource ChooseTickSource() {
#if defined(__aarch64__)
  return TickSource::kCntvct;  // architected, constant rate, readable from user space
#else
  return TickSource::kClockGettime;  // an app may not read the kernel's choice of clocksource
#endif
}

}  // namespace jankbox
