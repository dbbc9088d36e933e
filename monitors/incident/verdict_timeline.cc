#include "monitors/incident/verdict_timeline.h"

#include <algorithm>

namespace jankbox {
namespace {

using Stretch = VerdictTimeline::Stretch;

// A counter's growth; 0 if it went backwards, which is another thread's.
uint64_t Growth(uint64_t before, uint64_t after) { return after > before ? after - before : 0; }

uint64_t Scaled(uint64_t value, uint64_t part, uint64_t whole) {
  return static_cast<uint64_t>(static_cast<double>(value) * static_cast<double>(part) /
                               static_cast<double>(whole));
}

// By schedstat, if both ends know it. `length_ns` is that of the whole between two readings.
void SplitScheduled(const ThreadReading& before, const ThreadReading& after, uint64_t length_ns,
                    Stretch* stretch) {
  const uint64_t inside_ns = stretch->to_ns - stretch->from_ns;
  uint64_t run = Growth(before.run_ns, after.run_ns);
  uint64_t runnable = Growth(before.runnable_ns, after.runnable_ns);
  stretch->faults = Growth(before.minor_faults, after.minor_faults);
  stretch->switches = Growth(before.switches, after.switches);
  stretch->sched_known = true;
  // If only a part is inside: a thread that waited at its start (idle in its loop) ran inside;
  // one that ran all along ran everywhere alike.
  if (inside_ns < length_ns && !IsWait(before.wait)) {
    run = Scaled(run, inside_ns, length_ns);
    runnable = Scaled(runnable, inside_ns, length_ns);
    stretch->faults = Scaled(stretch->faults, inside_ns, length_ns);
  }
  stretch->run_ns = std::min(run, inside_ns);
  stretch->runnable_ns = std::min(runnable, inside_ns - stretch->run_ns);
  const uint64_t rest = inside_ns - stretch->run_ns - stretch->runnable_ns;
  if (IsWait(before.wait) || IsWait(after.wait)) {
    stretch->off_ns = rest;
  } else {
    // It waits for a CPU right now: the kernel counts that when it gets one.
    stretch->runnable_ns += rest;
  }
}

void SplitByState(const ThreadReading& after, Stretch* stretch) {
  const uint64_t inside_ns = stretch->to_ns - stretch->from_ns;
  (after.wait == WaitReason::kNone ? stretch->run_ns : stretch->off_ns) = inside_ns;
}

}  // namespace

void VerdictTimeline::Add(uint64_t now_ns, const ThreadReading& reading) {
  if (points_.size() >= kMaxPoints) {
    for (size_t i = 0; i < points_.size() / 2; ++i) points_[i] = points_[2 * i];
    points_.resize(points_.size() / 2);
  }
  points_.push_back({now_ns, reading});
}

void VerdictTimeline::ForgetBefore(uint64_t time_ns) {
  const auto first_after =
      std::find_if(points_.begin(), points_.end(),
                   [time_ns](const Point& point) { return point.time_ns > time_ns; });
  if (first_after - points_.begin() > 1) points_.erase(points_.begin(), first_after - 1);
  // All at once, so that the numbers of the others stay.
  if (peers_until_ns_ >= time_ns) return;
  for (Point& point : points_) point.reading.peer = 0;
  peer_count_ = 0;
}

uint8_t VerdictTimeline::Keep(uint64_t now_ns, const WaitPeer& peer) {
  if (peer.kind == WaitPeer::Kind::kNone) return 0;
  peers_until_ns_ = std::max(peers_until_ns_, now_ns);
  const uint8_t last = LastPeer(peer.kind, UINT64_MAX);
  if (last != 0 && peers_[last - 1].peer == peer) return last;
  if (peer_count_ == kMaxPeers) return 0;
  peers_[peer_count_] = {now_ns, peer};
  return ++peer_count_;
}

uint8_t VerdictTimeline::LastPeer(WaitPeer::Kind kind, uint64_t time_ns) const {
  uint8_t last = 0;
  for (uint8_t number = 1; number <= peer_count_; ++number) {
    const auto& kept = peers_[number - 1];
    if (kept.peer.kind != kind || kept.time_ns > time_ns) continue;
    if (last == 0 || kept.time_ns >= peers_[last - 1].time_ns) last = number;
  }
  return last;
}

std::vector<Stretch> VerdictTimeline::Between(uint64_t from_ns, uint64_t to_ns) const {
  std::vector<Stretch> stretches;
  for (size_t first = 0, last = 1; last < points_.size(); ++last) {
    const Point& after = points_[last];
    // While a thread runs or waits for a CPU, schedstat is late by up to a tick or by that
    // wait: a stretch goes on until the thread is seen waiting for something else, or to the end.
    const bool lags = after.reading.sched_known && !IsWait(after.reading.wait);
    if (lags && last + 1 < points_.size() && after.time_ns < to_ns) continue;
    const Point& before = points_[first];
    first = last;
    Stretch stretch{.from_ns = std::max(before.time_ns, from_ns),
                    .to_ns = std::min(after.time_ns, to_ns)};
    if (stretch.to_ns <= stretch.from_ns) continue;
    // What it waited for before or after is none of this time's.
    const auto waits = [&](const Point& point) {
      return IsWait(point.reading.wait) && point.time_ns >= from_ns && point.time_ns <= to_ns;
    };
    if (waits(before)) stretch.waited = &before.reading;
    if (waits(after)) stretch.waited = &after.reading;
    if (before.reading.sched_known && after.reading.sched_known) {
      SplitScheduled(before.reading, after.reading, after.time_ns - before.time_ns, &stretch);
    } else {
      SplitByState(after.reading, &stretch);
    }
    stretches.push_back(stretch);
  }
  return stretches;
}

}  // namespace jankbox
