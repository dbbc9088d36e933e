// perf's cpu-clock on one thread of this process, with user registers and user stack: samples of a
// running thread without a signal. Lives on the watcher thread; its ring is mapped at Open() and
// nothing is allocated after it. perf_event_open(2), linux/perf_event.h.
#ifndef JANKBOX_TRACER_SAMPLING_PERF_SOURCE_H_
#define JANKBOX_TRACER_SAMPLING_PERF_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/status.h"
#include "tracer/unwind/machine.h"

namespace jankbox {

struct PerfSample {
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  int32_t tid = 0;
  Registers registers;
  StackCopy stack;  // inside the record
};

// Reads a PERF_RECORD_SAMPLE (TID, TIME, REGS_USER, STACK_USER) from `record`, header included.
// False if its lengths make no sense.
bool ParsePerfSample(std::span<const std::byte> record, PerfSample* sample);

class PerfSource {
 public:
  virtual ~PerfSource() = default;

  // kPermissionDenied or kUnsupported if the kernel does not permit it.
  static Result<std::unique_ptr<PerfSource>> Open(int tid);

  // From now on a sample each `interval_ns` of CPU time; forgets what came before.
  virtual void Enable(uint64_t interval_ns) = 0;
  virtual void Disable() = 0;

  // The next sample, oldest first; false if there is no more. `sample` is valid until the next
  // call.
  virtual bool Next(PerfSample* sample) = 0;

  // Samples that the kernel dropped since the last call.
  virtual uint64_t TakeLost() = 0;

  // False if the kernel keeps stretches inside itself to itself.
  virtual bool sees_kernel() const = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SAMPLING_PERF_SOURCE_H_
