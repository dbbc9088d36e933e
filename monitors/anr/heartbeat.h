// The watcher's own pulse: compares what it planned with what happened to it, and says in which
// stretches the process was stopped (SIGSTOP, a freezer), a debugger stopped it, the machine slept,
// or the watcher was starved. A stopped thread neither runs nor waits for a CPU; a starved one
// waits. One that sleeps is woken to be stopped: it gave up its CPU twice, and only once where a
// hypervisor, a CPU quota or a late timer kept it from running. At work it may wait for a lock or
// a disk as well: then only another sleeping thread shows a stop. Pure logic over readings; the
// wall clock is none of them. Watcher thread; NO-ALLOC.
#ifndef JANKBOX_MONITORS_ANR_HEARTBEAT_H_
#define JANKBOX_MONITORS_ANR_HEARTBEAT_H_

#include <array>
#include <cstdint>
#include <span>

#include "monitors/incident/held_time.h"

namespace jankbox {

// Another thread of the process, which mostly sleeps.
struct Sleeper {
  uint64_t sleep = 0;   // which one it is in, from 1; 0: it is awake, or there is none
  uint64_t cpu_ns = 0;  // so far
};

// One moment of the watcher thread.
struct BeatReading {
  uint64_t monotonic_ns = 0;
  uint64_t boottime_ns = 0;
  bool sched_known = false;     // the two below are valid
  uint64_t run_ns = 0;          // of the watcher, on a CPU
  uint64_t runnable_ns = 0;     // waiting for one
  uint64_t process_cpu_ns = 0;  // of all threads
  uint64_t voluntary = 0;       // how often the watcher gave up its CPU by itself
  Sleeper sleeper;
};

class BeatSource {
 public:
  virtual ~BeatSource() = default;
  virtual BeatReading Read() = 0;
  // A debugger is attached to the watcher.
  virtual bool Traced() = 0;
};

class Heartbeat {
 public:
  // A stop shorter than this is not reported from the timer's own lateness.
  static constexpr uint64_t kStopBoundNs = 100'000'000;
  // The watcher is starved if it waited for a CPU longer than this at once.
  static constexpr uint64_t kLateBoundNs = 200'000'000;

  explicit Heartbeat(BeatSource* source) : source_(source) {}

  // The watcher goes to sleep for `planned_ns`. `rests`: until it is woken, nothing is to be seen.
  void Sleeps(uint64_t planned_ns, bool rests = true);
  // Something that it was to see woke it at `woken_ns` of CLOCK_MONOTONIC; it sleeps on for
  // `planned_ns`, 0: it does not. Once a sleep.
  void SleepsOn(uint64_t woken_ns, uint64_t planned_ns);
  // It is awake again. Returns that moment, CLOCK_MONOTONIC: looks are judged by it, since what
  // happens after it is not known yet.
  uint64_t Wakes();

  // The stops found since the last call, in order of time. Valid until the next Sleeps().
  std::span<const Hold> TakeHolds();

  // BOOTTIME's lead over MONOTONIC grew since the last call.
  bool TakeSuspended();

 private:
  void Take();
  void Judge(const BeatReading& now);
  bool KnowsSleeper(const BeatReading& now) const;
  bool WokeSleeper(const BeatReading& now) const;
  bool WasStopped(const BeatReading& now) const;
  void Found(RefusalReason reason, uint64_t from_ns, uint64_t to_ns, uint64_t beyond_ns);

  BeatSource* const source_;
  BeatReading last_;
  bool began_ = false;
  bool suspended_ = false;
  uint64_t planned_ns_ = 0;  // to sleep since the last reading
  uint64_t rest_ns_ = 0;     // of it, nothing was to be seen
  uint64_t sleeps_ = 0;      // since then
  bool rests_ = false;       // as Sleeps() was told
  std::array<Hold, 6> holds_;
  size_t found_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_ANR_HEARTBEAT_H_
