// The kernel's scheduling, block IO and page faults of this process, kept by the kernel itself in
// rolling buffers and read only when a window is sealed: private ftrace instances if tracefs is
// writable, else context switches of the watched threads by perf, else nothing, and it says why.
// Each method names its thread; none is for the app's. See docs/decisions/0008.
#ifndef JANKBOX_TRACER_FTRACE_KERNEL_RECORDER_H_
#define JANKBOX_TRACER_FTRACE_KERNEL_RECORDER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "tracer/clock/tick_clock.h"
#include "tracer/ftrace/kernel_window.h"

namespace jankbox {

class FtraceSession;
class SwitchSource;

enum class FtraceMode : uint32_t { kAuto = 0, kOff = 1, kOn = 2 };

struct KernelRecorderOptions {
  FtraceMode mode = FtraceMode::kAuto;
  uint32_t buffer_kib = 1024;  // a CPU
  std::string trace_clock;     // empty: the best that the kernel has
};

class KernelRecorder {
 public:
  KernelRecorder(const KernelRecorderOptions& options, TickSource tick_source);
  ~KernelRecorder();

  // Removes what dead processes left, sets the kernel up (some 50 ms). Sealing thread, once.
  // Empty if ftrace records, else why not.
  std::string Start();

  // A thread whose faults and, without ftrace, switches are wanted. Watcher thread.
  void WatchThread(int32_t tid);

  // Writes a clock marker; to be called every few seconds. Watcher thread.
  void Mark();

  // The window [from_ticks, to_ticks]. Sealing thread.
  KernelWindow Read(uint64_t from_ticks, uint64_t to_ticks, const TickConverter& clock);

  // A Start() that runs fails soon. Any thread.
  void GiveUpStart() { given_up_ = true; }

  // Gives everything back; takes up to 200 ms if no other process does it
  // (PrivateInstance::SetRemover()). Once the sealing thread has ended.
  void Stop();

 private:
  static constexpr size_t kMaxWatched = 8;

  void FollowWatched() REQUIRES(mutex_);
  void MeasureFaultCost();

  const KernelRecorderOptions options_;
  const TickSource tick_source_;
  std::atomic<bool> given_up_{false};
  Mutex mutex_;
  std::unique_ptr<FtraceSession> ftrace_ GUARDED_BY(mutex_);  // but for Read()
  std::string reason_ GUARDED_BY(mutex_);
  std::string no_switches_reason_ GUARDED_BY(mutex_);
  bool started_ GUARDED_BY(mutex_) = false;
  uint64_t fault_cost_ns_ = 0;  // sealing thread only
  std::vector<int32_t> watched_ GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<SwitchSource>> switches_ GUARDED_BY(mutex_);
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_FTRACE_KERNEL_RECORDER_H_
