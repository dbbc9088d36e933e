#include "monitors/incident/incident_tracker.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace jankbox {
namespace {

// The same moment read through two calibrations of the clock.
constexpr uint64_t kSameMomentNs = 2 * kNsPerMs;

bool SameMoment(uint64_t a, uint64_t b) { return std::max(a, b) - std::min(a, b) <= kSameMomentNs; }

bool Overlap(const Signal& frame, uint64_t begin_ns, uint64_t end_ns) {
  return frame.begin_ns < end_ns && begin_ns < frame.end_ns;
}

}  // namespace

void IncidentTracker::OnSignal(const Signal& signal) {
  if (signal.kind == SignalKind::kJank) {
    OnJank(signal);
    return;
  }
  if (signal.kind == SignalKind::kInputLatency) {
    OnLateInput(signal);
    return;
  }
  // It ended between two readings of the thread: what still speaks of it as running is late.
  if (!open_ && last_end_ns_ != 0 && SameMoment(last_begin_ns_, signal.begin_ns)) return;
  if (open_ && !SameMoment(open_->begin_ns, signal.begin_ns)) Finish(open_->end_ns);
  if (!open_) {
    open_.emplace();
    open_->id = new_id_();
    open_->kind = signal.kind;
    open_->begin_ns = signal.begin_ns;
    open_->what = signal.what;
  }
  open_->kind = std::max(open_->kind, signal.kind);
  if (signal.end_ns != 0) {
    Finish(signal.end_ns);
  } else if (signal.kind == SignalKind::kAnr) {
    open_->ongoing = true;
    SealRevision(&*open_);
  }
}

void IncidentTracker::OnJank(const Signal& signal) {
  const bool told = Overlap(signal, last_begin_ns_, last_end_ns_);
  if (!told && (!late_frame_ || signal.dropped_frames > late_frame_->dropped_frames)) {
    late_frame_ = signal;
  }
}

std::optional<Signal> IncidentTracker::TakeLateFrame(uint64_t begin_ns, uint64_t end_ns) {
  last_begin_ns_ = begin_ns;
  last_end_ns_ = end_ns;
  if (!late_frame_ || !Overlap(*late_frame_, begin_ns, end_ns)) return std::nullopt;
  return std::exchange(late_frame_, std::nullopt);
}

// The dispatch that it waited for is an incident already, or may become one.
void IncidentTracker::OnLateInput(const Signal& signal) {
  const uint64_t wait_ns = signal.end_ns - signal.begin_ns;
  if (Overlap(signal, last_begin_ns_, last_end_ns_)) return;
  if (!late_input_ || wait_ns > late_input_->end_ns - late_input_->begin_ns) late_input_ = signal;
}

void IncidentTracker::SettleLateInput(uint64_t running_begin_ns) {
  if (!late_input_ || (running_begin_ns != 0 && late_input_->end_ns > running_begin_ns)) return;
  IncidentRevision late;
  late.id = new_id_();
  late.kind = SignalKind::kInputLatency;
  late.begin_ns = late_input_->begin_ns;
  late.end_ns = late_input_->end_ns;
  late.what = late_input_->what;
  late.input_wait_ns = late.end_ns - late.begin_ns;
  late_input_.reset();
  last_begin_ns_ = late.begin_ns;  // further events of the same queue say nothing new
  last_end_ns_ = late.end_ns;
  SealRevision(&late);
}

void IncidentTracker::Finish(uint64_t end_ns) {
  open_->end_ns = end_ns;
  open_->ongoing = false;
  if (late_frame_ && Overlap(*late_frame_, open_->begin_ns, end_ns)) {
    open_->dropped_frames = late_frame_->dropped_frames;
    open_->frame_interval_ns = late_frame_->frame_interval_ns;
    late_frame_.reset();
  }
  if (late_input_ && Overlap(*late_input_, open_->begin_ns, end_ns)) {
    open_->input_wait_ns = late_input_->end_ns - late_input_->begin_ns;
    late_input_.reset();
  }
  SealRevision(&*open_);
  last_begin_ns_ = open_->begin_ns;
  last_end_ns_ = end_ns;
  open_.reset();
}

void IncidentTracker::SealRevision(IncidentRevision* incident) {
  ++incident->revision;
  seal_(*incident);
}

void IncidentTracker::Settle(uint64_t now_ns, uint64_t running_begin_ns) {
  if (open_ && (running_begin_ns == 0 || !SameMoment(running_begin_ns, open_->begin_ns))) {
    Finish(running_begin_ns != 0 ? std::min(running_begin_ns, now_ns) : now_ns);
  }
  if (open_) open_->end_ns = now_ns;
  SettleLateInput(running_begin_ns);
  if (!late_frame_) return;
  const bool in_running_dispatch = running_begin_ns != 0 && late_frame_->end_ns > running_begin_ns;
  if (in_running_dispatch) return;
  IncidentRevision jank;
  jank.id = new_id_();
  jank.kind = SignalKind::kJank;
  jank.begin_ns = late_frame_->begin_ns;
  jank.end_ns = late_frame_->end_ns;
  jank.what = late_frame_->what;
  jank.dropped_frames = late_frame_->dropped_frames;
  jank.frame_interval_ns = late_frame_->frame_interval_ns;
  late_frame_.reset();
  SealRevision(&jank);
}

}  // namespace jankbox
