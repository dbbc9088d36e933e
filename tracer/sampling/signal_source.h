// A directed real-time signal that copies a running thread's registers and stack, for machines on
// which perf is refused. Only for a thread that runs: a signal makes poll and nanosleep return
// early. Lives on the watcher thread; memory is taken at Create(). The handler allocates nothing
// and does not unwind.
#ifndef JANKBOX_TRACER_SAMPLING_SIGNAL_SOURCE_H_
#define JANKBOX_TRACER_SAMPLING_SIGNAL_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "tracer/unwind/machine.h"

namespace jankbox {

struct SignalSample {
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  Registers registers;
  StackCopy stack;  // valid until the next Capture()
};

class SignalSource {
 public:
  virtual ~SignalSource() = default;

  // kUnsupported if there is no free real-time signal, or too many sources.
  static Result<std::unique_ptr<SignalSource>> Create(int tid);

  // Asks the thread for a sample; false if it did not answer within `timeout_ms` (it blocks the
  // signal, it is not scheduled, …). One signal is on its way at most: while an unanswered one is
  // pending, no other is sent.
  virtual bool Capture(uint32_t timeout_ms, SignalSample* sample) = 0;

  // "SIGRTMIN+11"
  virtual std::string SignalName() const = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SAMPLING_SIGNAL_SOURCE_H_
