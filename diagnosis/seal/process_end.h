// How a process ended whose ring it did not close: judged from the ring's header and from what the
// system still knows. No evidence is never a crash: the reason is "unknown" then. Pure but for
// FactsOfEnd(); sealing thread or programs.
#ifndef JANKBOX_DIAGNOSIS_SEAL_PROCESS_END_H_
#define JANKBOX_DIAGNOSIS_SEAL_PROCESS_END_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tracer/clock/tick_clock.h"
#include "tracer/ring/ring_format.h"

namespace jankbox {

inline constexpr char kUnknownEnd[] = "unknown";

// The end of a child of the caller, as waitpid() gave it.
struct ChildEnd {
  int pid = 0;
  int wait_status = 0;
  uint64_t asked_ns = 0;  // CLOCK_MONOTONIC, when it was asked to end for the first time; 0: never
};

// What is known now.
struct EndFacts {
  bool same_boot = true;              // the machine still runs as it did then
  std::optional<int> wait_status;     // of the process
  std::optional<uint64_t> oom_kills;  // as header.oom_file says now
  bool asked_to_end = false;          // it lived when its whole session was asked to end
  bool note_is_fresh = false;         // end_call was made within a second of the last sign of life
};

struct ProcessEnd {
  std::string reason;     // Report.end_reason
  std::string evidence;   // Report.end_evidence
  bool expected = false;  // somebody asked for it, or it is nobody's fault: counted, no report
};

EndFacts FactsOfEnd(const RingHeader& header, const TickConverter& clock,
                    const std::optional<ChildEnd>& child);

// True if the user, the desktop's session or a service manager ends a program with `signal`.
bool IsRequestToEnd(int signal);

ProcessEnd JudgeEnd(const RingHeader& header, const EndFacts& facts);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_PROCESS_END_H_
