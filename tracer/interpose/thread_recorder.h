// Writes the events that the app's threads reported to the ring: creations, names and
// ends as kThread events, the stacks of those who created as stack samples. On the watcher thread
// alone; allocates.
#ifndef JANKBOX_TRACER_INTERPOSE_THREAD_RECORDER_H_
#define JANKBOX_TRACER_INTERPOSE_THREAD_RECORDER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "tracer/interpose/thread_journal.h"
#include "tracer/unwind/module_map.h"
#include "tracer/unwind/unwinder.h"

namespace jankbox {

class ThreadRecorder {
 public:
  struct Lost {
    uint64_t events = 0;
    uint64_t stacks = 0;  // of creations that were recorded
  };

  // An event before `since_ticks` belongs to an earlier recording.
  explicit ThreadRecorder(uint64_t since_ticks) : since_ticks_(since_ticks) {}

  // Once before hooks are installed. FORK: also in a child that records for itself.
  static void Prepare();

  // Writes what came since the last poll. Cheap if nothing did.
  void Look();

  // Once a second: stacks of the next few creations may be copied.
  void EverySecond() { CreationStacks::Allow(); }

  // So far.
  Lost lost();

 private:
  void RecordStack(const ThreadNote& note);

  const uint64_t since_ticks_;
  std::vector<ThreadEvent> events_;
  std::unique_ptr<Unwinder> unwinder_;  // made for the first stack
  ModuleMap modules_;
  Lost lost_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_THREAD_RECORDER_H_
