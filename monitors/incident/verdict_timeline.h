// Readings of a watched thread while its dispatch runs, and what they say of the time between them:
// schedstat splits each stretch into running, runnable and the rest, and the rest was spent in what
// the thread was seen waiting in at its ends. Filled on the watcher thread; a copy travels with the
// request to seal.
#ifndef JANKBOX_MONITORS_INCIDENT_VERDICT_TIMELINE_H_
#define JANKBOX_MONITORS_INCIDENT_VERDICT_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "monitors/incident/thread_probe.h"
#include "monitors/incident/wait_peer.h"

namespace jankbox {

class VerdictTimeline {
 public:
  struct Point {
    uint64_t time_ns = 0;  // CLOCK_MONOTONIC
    ThreadReading reading;
  };

  // The data about [from_ns, to_ns]: the three times sum to its length.
  struct Stretch {
    uint64_t from_ns = 0;
    uint64_t to_ns = 0;
    uint64_t run_ns = 0;
    uint64_t runnable_ns = 0;
    uint64_t off_ns = 0;
    uint64_t faults = 0;
    uint64_t switches = 0;
    bool sched_known = false;               // else only by the states at its ends
    const ThreadReading* waited = nullptr;  // the end that saw it wait; null: neither
  };

  // A reading at `now_ns`. Readings before the dispatch are its baseline: they may be as old as one
  // tick of the watcher.
  void Add(uint64_t now_ns, const ThreadReading& reading);

  // Keeps a peer that was seen at `now_ns`; returns its number for ThreadReading::peer, 0 for none
  // and if there are too many.
  uint8_t Keep(uint64_t now_ns, const WaitPeer& peer);

  // Null if the reading has none.
  const WaitPeer* PeerOf(const ThreadReading& reading) const {
    return reading.peer == 0 ? nullptr : &peers_[reading.peer - 1].peer;
  }
  // The last one of `kind` at or before `time_ns`, in whatever order they were kept; 0: none.
  uint8_t LastPeer(WaitPeer::Kind kind, uint64_t time_ns) const;

  // Forgets what is older than the last reading at or before `time_ns`, which is a baseline.
  void ForgetBefore(uint64_t time_ns);

  // True if the last reading saw the thread wait: a baseline for whatever it does next.
  bool EndsInAWait() const { return !points_.empty() && IsWait(points_.back().reading.wait); }

  // The stretches within [from_ns, to_ns], in order; what no reading covers is left out.
  std::vector<Stretch> Between(uint64_t from_ns, uint64_t to_ns) const;

  const std::vector<Point>& points() const { return points_; }
  std::vector<Point>& points() { return points_; }

 private:
  static constexpr size_t kMaxPoints = 8192;  // beyond it every second one is dropped
  static constexpr size_t kMaxPeers = 16;

  struct KeptPeer {
    uint64_t time_ns = 0;  // when it was kept
    WaitPeer peer;
  };

  std::vector<Point> points_;
  KeptPeer peers_[kMaxPeers];
  uint8_t peer_count_ = 0;
  uint64_t peers_until_ns_ = 0;  // when one was seen last
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_INCIDENT_VERDICT_TIMELINE_H_
