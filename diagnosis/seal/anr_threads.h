// All threads of the process at an ANR: what each waits in and for whom, deadlocks among them, and
// as many stacks as fit into a bound of time. Taken by the watcher while the ANR lasts; recorded in
// the ring too, so that trace and recovery have them.
#ifndef JANKBOX_DIAGNOSIS_SEAL_ANR_THREADS_H_
#define JANKBOX_DIAGNOSIS_SEAL_ANR_THREADS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "diagnosis/symbols/symbolizer.h"
#include "report/report.h"
#include "tracer/clock/tick_clock.h"
#include "tracer/ring/ring_window.h"
#include "tracer/sampling/thread_dump.h"
#include "tracer/unwind/stack_sample.h"

namespace jankbox {

inline constexpr uint64_t kAnrStacksNs = 200'000'000;

struct AnrThread {
  ReportThreadAtAnr told;
  size_t stack = SIZE_MAX;  // of AnrThreads::stacks; SIZE_MAX: none
};

struct AnrThreads {
  std::vector<AnrThread> threads;  // the one that does not respond first, then whom it waits for
  std::vector<StackSample> stacks;
  std::vector<std::string> deadlocks;  // sentences
  uint32_t left_out = 0;    // threads without a stack, for want of time or because they ran
  uint32_t not_listed = 0;  // threads beyond the list's end
};

// What TakeAnrThreads() asks the system.
class AnrThreadsSource {
 public:
  virtual ~AnrThreadsSource() = default;

  // As LookAtThreads().
  virtual std::vector<ThreadLook> Threads(size_t most, size_t* total) = 0;
  // The thread that has what `look`'s thread waits for; 0: none is known.
  virtual int32_t OwnerOf(const ThreadLook& look) = 0;
  // False: no stack can be taken.
  virtual bool TakeStack(int32_t tid, StackSample* sample) = 0;
  virtual uint64_t NowNs() = 0;
};

// Checks every thread but Jankbox's own. At most `stacks_ns` go into stacks.
AnrThreads TakeAnrThreads(int32_t tid, uint64_t stacks_ns);
AnrThreads TakeAnrThreads(int32_t tid, uint64_t stacks_ns, AnrThreadsSource* source);

// Writes stacks and deadlocks into the ring, as the calling thread's events.
void RecordAnrThreads(const AnrThreads& threads, const TickConverter& clock);

// The deadlocks that RecordAnrThreads() wrote from `from_ticks` on.
std::vector<std::string> DeadlocksOf(const RingWindow& window, uint64_t from_ticks);

// The threads as a report has them, with names from `frames`.
std::vector<ReportThreadAtAnr> ToReport(const AnrThreads& threads, const FrameTable& frames);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_ANR_THREADS_H_
