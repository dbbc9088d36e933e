#include "sdk/runtime/governor.h"

#include <algorithm>

#include "base/clock.h"

namespace jankbox {
namespace {

constexpr uint32_t kLooksOverBudget = 2;
constexpr uint64_t kFirstPatienceNs = 10 * kNsPerSecond;
constexpr uint64_t kMostPatienceNs = 300 * kNsPerSecond;
constexpr double kWellWithin = 0.5;  // of the budget
constexpr double kWorthAStep = 0.25;

RecordMode Below(RecordMode mode) {
  return mode == RecordMode::kOff ? mode : static_cast<RecordMode>(static_cast<uint32_t>(mode) + 1);
}
RecordMode Above(RecordMode mode) {
  return mode == RecordMode::kExact ? mode
                                    : static_cast<RecordMode>(static_cast<uint32_t>(mode) - 1);
}

}  // namespace

RecordMode Governor::Look(const Reading& reading) {
  const Reading last = last_;
  last_ = reading;
  if (!has_last_ || reading.now_ns <= last.now_ns) {
    has_last_ = true;
    within_since_ns_ = reading.now_ns;
    patience_ns_ = kFirstPatienceNs;
    return mode_;
  }
  const double elapsed_ns = static_cast<double>(reading.now_ns - last.now_ns);
  const uint64_t own_ns = reading.own_cpu_ns - last.own_cpu_ns;
  const uint64_t spent_ns =
      own_ns + (reading.tick_cpu_ns - last.tick_cpu_ns) + (reading.recorded_ns - last.recorded_ns);
  cost_permille_ = 1000.0 * static_cast<double>(spent_ns) / elapsed_ns;
  // The cost one step up.
  const double above_permille =
      1000.0 * static_cast<double>(own_ns + (reading.exact_ns - last.exact_ns)) / elapsed_ns;
  if (budget_permille_ == 0) return mode_;
  const double budget = budget_permille_;
  const double recording_permille =
      cost_permille_ - 1000.0 * static_cast<double>(own_ns) / elapsed_ns;
  // If sampling or sealing is the cost, recording less would not help.
  if (cost_permille_ > budget && recording_permille > budget * kWorthAStep) {
    within_since_ns_ = reading.now_ns;
    if (++looks_over_ >= kLooksOverBudget) StepDown(reading.now_ns);
    return mode_;
  }
  looks_over_ = 0;
  if (above_permille > budget * kWellWithin) within_since_ns_ = reading.now_ns;
  if (stepped_up_ns_ != 0 && reading.now_ns - stepped_up_ns_ > kFirstPatienceNs) {
    stepped_up_ns_ = 0;  // the step up was right
    patience_ns_ = kFirstPatienceNs;
  }
  if (mode_ != RecordMode::kExact && reading.now_ns - within_since_ns_ >= patience_ns_) {
    mode_ = Above(mode_);
    stepped_up_ns_ = within_since_ns_ = reading.now_ns;
  }
  return mode_;
}

void Governor::StepDown(uint64_t now_ns) {
  // Too much again soon after a step up: wait longer before the next one.
  if (stepped_up_ns_ != 0) patience_ns_ = std::min(2 * patience_ns_, kMostPatienceNs);
  stepped_up_ns_ = 0;
  looks_over_ = 0;
  within_since_ns_ = now_ns;
  mode_ = Below(mode_);
}

}  // namespace jankbox
