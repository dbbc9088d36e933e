// Who was whose thread when, and what it was called: the kThread events of a window, put together
// by tid. A tid is given again, so one may have had several lives. Reads the window at
// construction. One thread.
#ifndef JANKBOX_TRACER_SNAPSHOT_THREAD_LIVES_H_
#define JANKBOX_TRACER_SNAPSHOT_THREAD_LIVES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tracer/event/thread_event.h"
#include "tracer/ring/ring_window.h"

namespace jankbox {

using ThreadNames = std::map<int32_t, std::string>;  // by tid

struct ThreadLife {
  struct Name {
    uint64_t from_ticks = 0;
    std::string name;
  };

  uint64_t from_ticks = 0;         // creation; 0: before all that is known
  uint64_t to_ticks = UINT64_MAX;  // its end, or the next life's begin
  bool created = false;            // the next two are known
  int32_t parent_tid = 0;
  uint64_t started_ticks = 0;
  bool ended = false;
  std::vector<Name> names;  // oldest first; the first one counts from `from_ticks`
};

class ThreadLives {
 public:
  // `names_now`: what living threads are called as the window is read; wins over older names.
  ThreadLives(const RingWindow& window, const ThreadNames& names_now);

  // The name of thread `tid` at that moment; empty if unknown.
  std::string NameAt(int32_t tid, uint64_t ticks) const;

  // The last name of `thread` in the window.
  std::string LastNameOf(const WindowThread& thread) const;

  // The life of `tid` that the moment is in; null if none is known.
  const ThreadLife* LifeAt(int32_t tid, uint64_t ticks) const;

  const std::map<int32_t, std::vector<ThreadLife>>& by_tid() const { return lives_; }

 private:
  void Add(const ThreadEvent& event);
  void AddRingNames(const RingWindow& window);
  void AddNamesNow(const ThreadNames& names_now);

  std::map<int32_t, std::vector<ThreadLife>> lives_;  // of each tid, oldest first
};

// When the thread's first chunk in the window was taken; UINT64_MAX if it has none.
uint64_t FirstTicks(const WindowThread& thread);

// A kThread event's data; false if it makes no sense.
bool DecodeThreadRecord(const EventRecord& record, ThreadEvent* event);

// Every kThread event of the window that makes sense, in order of time.
std::vector<ThreadEvent> ThreadEventsOf(const RingWindow& window);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_THREAD_LIVES_H_
