// From a capture's stamps to the clock of the app's trace (BOOTTIME of the app), with the error
// that the way may have. Pure functions; allocate.
#ifndef JANKBOX_TOOLS_MERGE_CLOCK_FIT_H_
#define JANKBOX_TOOLS_MERGE_CLOCK_FIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/merge/app_trace.h"
#include "tools/merge/capture_facts.h"

namespace jankbox::tools {

enum class FitMethod {
  kDirect,      // the stamps are MONOTONIC or BOOTTIME, and the app's clock snapshot says the rest
  kClockMarks,  // markers that carry a reading of the app's clock
  kMarkers,     // markers that both sides have
  kSchedule,    // the app's events are at times at which the kernel says that their threads ran
  kRealtime,    // by the wall clock, which both sides have
  kNearest,     // none of these: taken for the clock that fits best
  kUnaligned,   // forced: no time in common
};
const char* FitMethodName(FitMethod method);  // "clock", "clock markers", …

struct ClockFit {
  std::string clock = "unknown";  // of the capture, as trace_clock calls it
  FitMethod method = FitMethod::kUnaligned;
  uint64_t stamp = 0;  // which reads as…
  uint64_t boottime_ns = 0;
  double slope = 1;  // ns of BOOTTIME a stamp's ns
  uint64_t bound_ns = 0;
  uint64_t evidence = 0;  // pairs or events that it rests on
  std::string remark;     // if the file says another clock than its events

  uint64_t ToBoottime(uint64_t at) const;
};

// What is known besides the events.
struct FitQuestion {
  const AppTrace* app = nullptr;
  const CaptureFacts* facts = nullptr;
  std::string clock;           // as stated; empty: not stated
  uint64_t resolution_ns = 1;  // of a stamp
  uint64_t app_error_ns = 0;   // of the app's own clock (Report.clock_error_ns)
};

ClockFit FitClock(const FitQuestion& question);

// A line through pairs (at least one): the slope is 1 if they are few or close together. The
// bound applies to nine pairs of ten.
ClockFit FitPairs(const std::vector<ClockPair>& pairs, uint64_t resolution_ns);

// Pairs of markers that both sides have: the offset that most of them agree on. Empty if too few
// do.
std::vector<ClockPair> VoteForPairs(const AppTrace& app, const CaptureFacts& facts);

// The offsets (BOOTTIME - stamp) at which the app's events fall if their threads were on a CPU,
// within `bound_ns` of `near`. False if the schedule says too little.
struct OffsetRange {
  int64_t low;
  int64_t high;
  uint64_t events;
};
bool FitSchedule(const AppTrace& app, const CaptureFacts& facts, int64_t near, uint64_t bound_ns,
                 OffsetRange* range);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_CLOCK_FIT_H_
