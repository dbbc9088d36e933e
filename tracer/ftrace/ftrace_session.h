// Two private ftrace instances while Jankbox records: one that follows the process's own threads
// (switches, wake-ups, requests to disks), one that no thread filter fits (completions come in
// interrupts) and that also has only the page faults of the watched threads. Mark() and
// WatchFaults() on the watcher thread, all else on the sealing thread.
#ifndef JANKBOX_TRACER_FTRACE_FTRACE_SESSION_H_
#define JANKBOX_TRACER_FTRACE_FTRACE_SESSION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "tracer/clock/tick_clock.h"
#include "tracer/ftrace/clock_markers.h"
#include "tracer/ftrace/event_reader.h"
#include "tracer/ftrace/kernel_window.h"
#include "tracer/ftrace/private_instance.h"

namespace jankbox {

struct FtraceSessionOptions {
  uint32_t buffer_kib = 1024;                   // a CPU; less if there are many of those
  std::string trace_clock;                      // empty: the best
  const std::atomic<bool>* given_up = nullptr;  // once true, Start() fails soon
};

class FtraceSession {
 public:
  // Removes what dead processes left, loads libtracefs, makes the instances.
  static Result<std::unique_ptr<FtraceSession>> Start(const FtraceSessionOptions& options,
                                                      TickSource tick_source);

  void Mark() { markers_.Write(ns_per_tick_); }
  // Of these threads and no others; none: of the main thread.
  void WatchFaults(const std::vector<int32_t>& tids);

  // Takes the buffers' content; what a later window may still need is kept.
  KernelWindow Read(uint64_t from_ticks, uint64_t to_ticks, const TickConverter& clock);

 private:
  // An instance with what is known of its losses.
  struct Buffer {
    std::unique_ptr<PrivateInstance> instance;
    std::vector<uint64_t> overruns;      // by CPU, at the last reading
    std::vector<uint64_t> first_stamps;  // by CPU, of this reading; 0: none
  };

  FtraceSession(Buffer threads, std::unique_ptr<EventReader> reader, TickSource tick_source);
  Status TakeFrom(Buffer* buffer);
  void NoteLosses(Buffer* buffer, const KernelClock& kernel_clock, uint64_t from_ticks,
                  KernelWindow* window);
  void FindOwnThreads();
  KernelClock Calibrate(const TickConverter& clock) const;
  void Forget(uint64_t before_ticks, const KernelClock& kernel_clock);

  const TickSource tick_source_;
  const double ns_per_tick_;
  Buffer threads_;
  Buffer io_;  // without an instance if it could not be made
  std::unique_ptr<EventReader> reader_;
  ClockMarkers markers_;
  uint64_t kept_from_ticks_ = 0;     // what was before is forgotten
  std::vector<KernelEvent> events_;  // with stamps
  std::vector<KernelClock::Point> points_;
  std::unordered_set<int32_t> own_threads_;  // every one that was ever seen
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_FTRACE_FTRACE_SESSION_H_
