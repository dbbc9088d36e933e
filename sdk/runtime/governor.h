// Keeps what Jankbox costs the app within a budget (decision 6): from the CPU time of its own
// threads and an estimate of what recording costs the app's, it decides how events are recorded.
// Pure: a function of the readings it is given, no clock, no thread.
#ifndef JANKBOX_SDK_RUNTIME_GOVERNOR_H_
#define JANKBOX_SDK_RUNTIME_GOVERNOR_H_

#include <cstdint>

#include "tracer/ring/ring_format.h"

namespace jankbox {

class Governor {
 public:
  // Totals since the start.
  struct Reading {
    uint64_t now_ns = 0;       // CLOCK_MONOTONIC
    uint64_t own_cpu_ns = 0;   // of Jankbox's threads but the coarse clock's
    uint64_t tick_cpu_ns = 0;  // of the coarse clock's
    uint64_t recorded_ns = 0;  // estimated, of the app's threads: events times their cost …
    uint64_t exact_ns = 0;     // … and what they would have cost in the exact mode
  };

  // `budget_permille`: of one core. 0: no budget, the mode never changes.
  explicit Governor(uint32_t budget_permille) : budget_permille_(budget_permille) {}

  // To be called about once a second; returns the mode for the time from now on. Over budget in
  // two looks in a row: one step down. Well within it for a while: one step up, and if that
  // turns out too much, the next try waits twice as long.
  RecordMode Look(const Reading& reading);

  RecordMode mode() const { return mode_; }
  // Cost between the last two looks, in permille of one core.
  double cost_permille() const { return cost_permille_; }

 private:
  void StepDown(uint64_t now_ns);

  const uint32_t budget_permille_;
  RecordMode mode_ = RecordMode::kExact;
  bool has_last_ = false;
  Reading last_;
  double cost_permille_ = 0;
  uint32_t looks_over_ = 0;
  uint64_t within_since_ns_ = 0;
  uint64_t stepped_up_ns_ = 0;  // 0: not since the last step down
  uint64_t patience_ns_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_GOVERNOR_H_
