#include "monitors/looper/idle_callback.h"

#include <cstring>

#include "monitors/looper/dispatch_monitor.h"
#include "tracer/event/event.h"

namespace jankbox {

void BeginIdleCallback(const char* what) {
  char name[kMaxDispatchNameBytes + 1];
  memcpy(name, kIdlePrefix, kIdlePrefixBytes);
  const size_t bytes = what == nullptr ? 0 : strnlen(what, sizeof(name) - 1 - kIdlePrefixBytes);
  if (bytes != 0) memcpy(name + kIdlePrefixBytes, what, bytes);
  name[kIdlePrefixBytes + bytes] = '\0';
  DispatchMonitor::Begin(name);
}

}  // namespace jankbox
