#include "sdk/src/watched_thread.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/uuid.h"
#include "monitors/frame/frame_monitor.h"
#include "tracer/event/event_sink.h"
#include "tracer/ring/ring_reader.h"
#include "tracer/sampling/sample_event.h"

namespace jankbox {
namespace {

constexpr uint64_t kIdleLookNs =
    50 * kNsPerMs;  // a baseline for the verdict, and how late a dispatch may be seen
// A thread that is stuck for longer than this is looked at ten times less often.
constexpr uint64_t kLongBlockNs = 10 * kNsPerSecond;

ReportKind ToReportKind(SignalKind kind) {
  switch (kind) {
    case SignalKind::kJank:
      return ReportKind::kJank;
    case SignalKind::kSlowMessage:
      return ReportKind::kSlowMessage;
    case SignalKind::kAnr:
      break;
  }
  return ReportKind::kAnr;
}

void RecordSample(const StackSample& sample, const TickConverter& clock) {
  uint64_t words[kMaxSamplePayloadWords];
  const uint32_t count = EncodeSample(sample, words);
  RecordEventAt(EventKind::kStackSample, count, clock.FromMonotonicNs(sample.time_ns),
                {words, count});
}

}  // namespace

WatchedThread::WatchedThread(const Options& options, RingFile* ring, size_t index,
                             Refusals* refusals, Seal seal)
    : options_(options),
      ring_(ring),
      index_(index),
      refusals_(refusals),
      seal_(std::move(seal)),
      tid_(ring->header()->watched[index].tid.load(std::memory_order_acquire)),
      view_(&ring->header()->watched[index]),
      probe_(tid_),
      slow_messages_(options.slow_message_ns),
      anrs_(options.anr_ns),
      incidents_([] { return NewUuid(RealtimeNs() / kNsPerMs); },
                 [this](const IncidentRevision& incident) { SealRevision(incident); }) {
  StackSampler::Options sampler_options;
  sampler_options.interval_ms = options.sample_interval_ms;
  sampler_options.mode = options.sampler_mode;
  Result<std::unique_ptr<StackSampler>> sampler = StackSampler::Create(tid_, sampler_options);
  if (sampler.ok()) sampler_ = std::move(sampler.value());
}

bool WatchedThread::IsGone() const {
  return syscall(SYS_tgkill, ring_->header()->pid, tid_, 0) != 0 && errno == ESRCH;
}

bool WatchedThread::Overdue(const RunningDispatch& running, uint64_t now_ns) const {
  if (slow_messages_.Overdue(running, now_ns)) return true;
  // A thread that shows frames is overdue once half the time of a janky frame is over.
  const bool frames =
      ring_->header()->watched[index_].frame_count.load(std::memory_order_relaxed) != 0;
  const uint64_t janky_ns = options_.jank_dropped_frames * kReferenceIntervalNs;
  return frames && now_ns >= running.begin_ns + janky_ns / 2;
}

void WatchedThread::Look(uint64_t now_ns, const TickConverter& clock) {
  clock_ = clock;
  const uint64_t count =
      ring_->header()->watched[index_].dispatch_count.load(std::memory_order_relaxed);
  std::optional<RunningDispatch> running = view_.ReadRunning(clock);
  // An idle thread that has not begun anything since is as it was.
  if (running || count != last_count_) timeline_.Add(now_ns, probe_.Read());
  last_count_ = count;
  const std::optional<SlowDispatch> slow = view_.TakeSlow(clock);
  const std::optional<LateFrame> frame = view_.TakeFrame();
  Sample(running && Overdue(*running, now_ns));
  if (frame) incidents_.OnSignal(FrameMonitor::SignalOf(*frame));
  if (slow && !anrs_.OnEnded(*slow, &incidents_)) slow_messages_.OnEnded(*slow, &incidents_);
  if (running) {
    slow_messages_.OnRunning(*running, now_ns, &incidents_);
    anrs_.OnRunning(*running, now_ns, &incidents_);
  }
  incidents_.Settle(now_ns, running ? running->begin_ns : 0);
  if (incidents_.open()) NoteInRing(*incidents_.open(), false);
  const bool same = running && running_ && running->begin_ticks == running_->begin_ticks;
  if (!same) {
    timeline_.Restart();
    if (sampler_ != nullptr) lost_before_ = sampler_->counters().lost;
  }
  running_ = std::move(running);
}

void WatchedThread::Sample(bool overdue) {
  if (sampler_ == nullptr) return;
  if (overdue && !sampling_) sampler_->Start();
  if (sampling_) {
    sampler_->Collect([this](const StackSample& sample) { RecordSample(sample, clock_); });
  }
  if (!overdue && sampling_) sampler_->Stop();
  sampling_ = overdue;
}

uint64_t WatchedThread::NextLookNs(uint64_t now_ns) const {
  if (!sampling_) {
    if (!running_) return kIdleLookNs;
    const uint64_t overdue_at = running_->begin_ns + options_.slow_message_ns / 2;
    return overdue_at > now_ns ? std::min(kIdleLookNs, overdue_at - now_ns) : kNsPerMs;
  }
  const uint64_t interval = options_.sample_interval_ms * kNsPerMs;
  return now_ns - running_->begin_ns > kLongBlockNs ? 10 * interval : interval;
}

void WatchedThread::Finish(uint64_t now_ns, const TickConverter& clock) {
  Look(now_ns, clock);
  incidents_.Settle(now_ns, 0);
  if (sampling_) sampler_->Stop();
  sampling_ = false;
}

void WatchedThread::NoteInRing(const IncidentRevision& incident, bool finished) {
  RingIncident& note = ring_->header()->incidents[index_];
  if (incident.id != HeaderText(note.id, sizeof(note.id))) {
    note.state.store(static_cast<uint32_t>(RingIncidentState::kNone), std::memory_order_release);
    memcpy(note.id, incident.id.c_str(), std::min(incident.id.size() + 1, sizeof(note.id)));
    note.sealed_revision.store(0, std::memory_order_relaxed);
  }
  note.kind.store(static_cast<uint32_t>(ToReportKind(incident.kind)), std::memory_order_relaxed);
  note.begin_ticks.store(clock_.FromMonotonicNs(incident.begin_ns), std::memory_order_relaxed);
  note.end_ticks.store(finished ? clock_.FromMonotonicNs(incident.end_ns) : 0,
                       std::memory_order_relaxed);
  const auto state = finished ? RingIncidentState::kFinished : RingIncidentState::kGrowing;
  note.state.store(static_cast<uint32_t>(state), std::memory_order_release);
}

void WatchedThread::SealRevision(const IncidentRevision& incident) {
  NoteInRing(incident, !incident.ongoing);
  // Before it is sealed: should the process die right after that, recovery must not use the same
  // number again.
  ring_->header()->incidents[index_].sealed_revision.store(incident.revision,
                                                           std::memory_order_relaxed);
  SealRequest request;
  request.id = incident.id;
  request.revision = incident.revision;
  request.kind = ToReportKind(incident.kind);
  request.begin_ns = incident.begin_ns;
  request.end_ns = incident.ongoing ? MonotonicNs() : incident.end_ns;
  request.ongoing = incident.ongoing;
  request.what = incident.what;
  request.tid = tid_;
  request.watched_index = index_;
  request.verdict = timeline_.Sum(request.begin_ns, request.end_ns);
  request.dropped_frames = incident.dropped_frames;
  request.frame_interval_ns = incident.frame_interval_ns;
  request.loop = HeaderText(ring_->header()->loop_name, sizeof(ring_->header()->loop_name));
  if (sampler_ != nullptr) {
    request.sampler = sampler_->SourcesUsed();
    request.lost_samples = sampler_->counters().lost - lost_before_;
    if (!sampler_->Notes().empty()) request.notes.push_back(sampler_->Notes());
  }
  seal_(std::move(request));
}

}  // namespace jankbox
