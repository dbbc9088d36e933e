// Takes stacks of one watched thread of this process while it is overdue, without changing what the
// program sees: perf's cpu-clock with user registers and stack if permitted,
// /proc/self/task/TID/syscall for a blocked thread, a directed real-time signal as the disclosed
// fallback for a running one. See ARCHITECTURE: decision 5. Lives only on the watcher thread:
// every call comes from it. Memory is taken at Create() and bounded.
#ifndef JANKBOX_TRACER_SAMPLING_STACK_SAMPLER_H_
#define JANKBOX_TRACER_SAMPLING_STACK_SAMPLER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "tracer/unwind/module_map.h"
#include "tracer/unwind/stack_sample.h"

namespace jankbox {

class StackSampler {
 public:
  // kSignalOnly is kAuto as if perf were refused: a blocked thread is still checked through
  // /proc, since a signal would end its wait. kNoSignal is kAuto without that fallback.
  enum class Mode { kAuto, kPerfOnly, kProcOnly, kSignalOnly, kNoSignal };

  struct Options {
    uint32_t interval_ms = 5;
    Mode mode = Mode::kAuto;
  };

  struct Counters {
    uint64_t taken = 0;
    uint64_t truncated = 0;
    uint64_t lost =
        0;  // wanted but not taken: perf's lost records, a thread that woke during the copy, …
  };

  using Sink = std::function<void(const StackSample&)>;

  // A sampler for thread `tid` of this process. Never fails for want of a source: without perf,
  // /proc or signals the samples say so and carry no stack.
  static Result<std::unique_ptr<StackSampler>> Create(int tid, const Options& options);

  virtual ~StackSampler() = default;

  // Begins and ends a stretch of sampling. Outside of it nothing is measured and nothing costs.
  // `times` the interval passes between two samples of it.
  virtual void Start(uint32_t times) = 0;
  virtual void Stop() = 0;

  // Called once an interval between Start and Stop: passes the samples that came since, oldest
  // first, at least one if the thread could be checked.
  virtual void Collect(const Sink& sink) = 0;

  virtual const Counters& counters() const = 0;

  // Sources used since Create, joined by "+": "perf+proc". For the report.
  virtual std::string SourcesUsed() const = 0;
  // Missing permissions, as sentences for the report; empty if all is well.
  virtual std::string Notes() const = 0;
  // The modules as of the last sample.
  virtual const ModuleMap& modules() const = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SAMPLING_STACK_SAMPLER_H_
