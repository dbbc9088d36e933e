// Finds out which process an overdue thread waits for, while it waits: once for each wait, and for
// one wait in 20 ms at most, in 100 ms if the servers of the process were searched for. Drops what
// it found if the thread ran meanwhile, and if the kernel does not say so. Watcher thread;
// allocates.
#ifndef JANKBOX_SDK_RUNTIME_PEER_FINDER_H_
#define JANKBOX_SDK_RUNTIME_PEER_FINDER_H_

#include <cstdint>

#include "monitors/incident/verdict_timeline.h"
#include "sdk/runtime/thread_source.h"

namespace jankbox {

class PeerFinder {
 public:
  // `source` outlives this.
  explicit PeerFinder(ThreadSource* source) : source_(source) {}

  // Sets the peer of a wait that was read at `now_ns` in a dispatch that began at `begin_ticks`,
  // and keeps in `timeline` what is found.
  void Look(uint64_t now_ns, uint64_t begin_ticks, ThreadReading* reading,
            VerdictTimeline* timeline);

 private:
  static constexpr uint64_t kIntervalNs = 20'000'000;
  // After one that all descriptors were searched for.
  static constexpr uint64_t kSearchIntervalNs = 100'000'000;

  ThreadSource* const source_;
  ThreadReading last_;  // the wait that was asked about last
  uint64_t last_begin_ticks_ = 0;
  uint64_t next_ns_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_PEER_FINDER_H_
