// Measures every second what Jankbox costs the app, and applies the result: the recording mode
// within the CPU budget. Called only on the watcher thread, except for the totals.
#ifndef JANKBOX_SDK_RUNTIME_OVERHEAD_H_
#define JANKBOX_SDK_RUNTIME_OVERHEAD_H_

#include <atomic>
#include <cstdint>
#include <optional>

#include "sdk/runtime/coarse_clock.h"
#include "sdk/runtime/governor.h"
#include "tracer/ring/ring_file.h"

namespace jankbox {

class Overhead {
 public:
  // `fixed`: this mode and no other; else the governor's.
  Overhead(RingFile* ring, uint32_t budget_permille, std::optional<RecordMode> fixed);

  // Once, when the clock is calibrated: measures what an event costs, and sets the first mode.
  void Begin(double ns_per_tick);

  // About once a second, with the CPU time of Jankbox's threads but the tick's.
  void Look(uint64_t now_ns, uint64_t own_cpu_ns);

  // Nothing is to be done while nothing is recorded.
  bool rests() const { return mode_ == RecordMode::kExact || fixed_.has_value(); }

  // Leaves the coarse mode, whose thread ends.
  void End();

  // Estimated CPU time of the app's threads that went into recording so far, in ns. Any thread.
  uint64_t recorded_ns() const { return recorded_ns_.load(std::memory_order_relaxed); }
  // CPU time of the tick's thread. Any thread.
  uint64_t tick_cpu_ns() const { return tick_cpu_ns_.load(std::memory_order_relaxed); }

 private:
  void SetMode(RecordMode mode, RecordModeReason reason);
  uint64_t ClaimedWords() const;

  RingFile* const ring_;
  const std::optional<RecordMode> fixed_;
  Governor governor_;
  CoarseClock coarse_clock_;
  RecordMode mode_ = RecordMode::kExact;
  double exact_event_ns_ = 10;
  uint64_t last_words_ = 0;
  uint64_t exact_ns_ = 0;
  std::atomic<uint64_t> recorded_ns_{0};
  std::atomic<uint64_t> tick_cpu_ns_{0};
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_OVERHEAD_H_
