// Sees a thread of another process call functions, without a change to its code, a stop of it, or
// a cost for any other thread: the processor's breakpoints on instructions, of which it has a few
// (four on x86-64), through perf and for this thread only, with its context switches in the same
// stream. docs/decisions/0020 has the reasons. The watching thread's; NO-ALLOC after Open() but in
// Probe().
#ifndef JANKBOX_TOOLS_ATTACH_WAIT_PROBES_H_
#define JANKBOX_TOOLS_ATTACH_WAIT_PROBES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/scoped_fd.h"
#include "base/status.h"
#include "tracer/sampling/perf_ring.h"
#include "tracer/sampling/perf_source.h"

namespace jankbox::tools {

struct ProbeEvent {
  // kLeaves: where it is as it leaves its CPU; kSwitchedOut follows. kExecuted: the process runs
  // another program from now on, in this thread.
  enum class Kind { kReached, kLeaves, kSwitchedOut, kSwitchedIn, kExecuted, kLost };
  Kind kind = Kind::kLost;
  uint64_t time_ns = 0;    // CLOCK_MONOTONIC; kLost: 0
  uint64_t address = 0;    // kReached: the instruction, which has not run yet
  bool preempted = false;  // kSwitchedOut: it could have gone on
  // kReached: registers, and the top of the stack; kLeaves: the program's registers. Until the next
  // event.
  PerfSample sample;
};

class WaitProbes {
 public:
  // Switches only, so far. kPermissionDenied or kUnsupported if the kernel does not permit perf.
  static Result<std::unique_ptr<WaitProbes>> Open(int32_t tid);

  // Sees these addresses reached from now on, and no others; as many of them, from the first on, as
  // the processor has breakpoints left. Returns how many.
  size_t Probe(std::span<const uint64_t> addresses);

  bool Probes(uint64_t address) const;

  // Whether to see where it leaves its CPU. False if the kernel does not show that, which it does
  // to root, or with kernel.perf_event_paranoid of 1 at most.
  bool SeePlaces(bool on);
  bool sees_places() const { return places_.valid(); }

  // Oldest first; false if there is no more.
  bool Next(ProbeEvent* event);

  // Readable when much is there to read.
  int fd() const { return switches_.get(); }

 private:
  struct Breakpoint {
    uint64_t address;
    ScopedFd event;
  };

  // Its records go to the common ring. False if it was not opened, either.
  bool Enable(const ScopedFd& event) const;
  bool Add(uint64_t address);
  // False if none of them is probed.
  bool RemoveOneOf(std::span<const uint64_t> addresses);

  WaitProbes(int32_t tid, ScopedFd switches) : tid_(tid), switches_(std::move(switches)) {}

  const int32_t tid_;
  const ScopedFd switches_;  // its ring has the records of all
  PerfRing ring_;
  ScopedFd places_;
  std::vector<Breakpoint> breakpoints_;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ATTACH_WAIT_PROBES_H_
