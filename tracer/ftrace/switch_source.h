// Context switches of one thread of this process by perf, into a ring that the kernel overwrites:
// what an unprivileged process may know of its scheduling. perf_event_open(2), PERF_RECORD_SWITCH.
// Nothing runs until Read().
#ifndef JANKBOX_TRACER_FTRACE_SWITCH_SOURCE_H_
#define JANKBOX_TRACER_FTRACE_SWITCH_SOURCE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"

namespace jankbox {

struct OwnSwitch {
  uint64_t monotonic_ns = 0;
  bool out = false;        // off the CPU; else onto it
  bool preempted = false;  // of `out`: it could have gone on
};

class SwitchSource {
 public:
  virtual ~SwitchSource() = default;

  // kPermissionDenied or kUnsupported if the kernel does not permit it. Watcher thread.
  static Result<std::unique_ptr<SwitchSource>> Open(int32_t tid);

  virtual int32_t tid() const = 0;

  // The last ones, oldest first; about 2000 are kept. Sealing thread.
  virtual std::vector<OwnSwitch> Read() = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_FTRACE_SWITCH_SOURCE_H_
