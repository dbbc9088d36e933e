// Where the wall time of an incident went. Built from readings of the thread taken while the
// dispatch runs; each stretch between two readings is split into running and runnable by schedstat,
// and what is left goes to what the thread was seen waiting for. What no reading covers is unknown.
// Sums to the asked time exactly. Watcher thread.
#ifndef JANKBOX_MONITORS_INCIDENT_VERDICT_H_
#define JANKBOX_MONITORS_INCIDENT_VERDICT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "monitors/incident/thread_probe.h"

namespace jankbox {

struct Verdict {
  uint64_t running_ns = 0;
  uint64_t runnable_ns = 0;
  uint64_t lock_ns = 0;
  uint64_t disk_ns = 0;
  uint64_t sleeping_ns = 0;
  uint64_t blocked_ns = 0;
  uint64_t unknown_ns = 0;
  uint64_t switches = 0;
  std::string source;  // what it rests on: "schedstat", "thread states" or ""

  // Of two stretches together.
  void Add(const Verdict& part);

  uint64_t total_ns() const {
    return running_ns + runnable_ns + lock_ns + disk_ns + sleeping_ns + blocked_ns + unknown_ns;
  }
};

// "running 92 %" and so on: the largest share in words, with `function` as the place if it is not
// empty.
std::string VerdictSentence(const Verdict& verdict, const std::string& function);

class VerdictTimeline {
 public:
  // A reading at `now_ns`. Readings before the dispatch are its baseline: they may be as old as one
  // tick of the watcher.
  void Add(uint64_t now_ns, const ThreadReading& reading);

  // Forgets all but the last reading: the thread has begun another dispatch, or none.
  void Restart();

  // The split of [from_ns, to_ns].
  Verdict Sum(uint64_t from_ns, uint64_t to_ns) const;

 private:
  struct Point {
    uint64_t time_ns;
    ThreadReading reading;
  };
  static constexpr size_t kMaxPoints = 8192;  // beyond it every second one is dropped

  std::vector<Point> points_;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_INCIDENT_VERDICT_H_
