#include "sdk/runtime/watched_thread.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/log.h"
#include "base/phase_names.h"
#include "base/uuid.h"
#include "diagnosis/verdict/held_notes.h"
#include "monitors/looper/input_latency.h"
#include "sdk/api/foreground.h"
#include "sdk/runtime/record_sample.h"
#include "tracer/ring/ring_reader.h"

namespace jankbox {
namespace {

constexpr uint64_t kIdleLookNs = 50 * kNsPerMs;  // a baseline for the verdict
// A late frame may be judged this long after its end, when its dispatch is over.
constexpr uint64_t kLateFrameNs = 500 * kNsPerMs;
// A program without a loop that is known starts up for ever. While it waits, when it goes on is
// seen late by a share of the wait, a second at most.
constexpr uint64_t kStartRestShare = 8;
constexpr uint64_t kMaxStartRestNs = kNsPerSecond;
// A dispatch is sampled at the full rate for twice this time. After that each doubling of its
// length has as many samples, 50 at 5 ms: 300 in 8 s.
constexpr uint64_t kFullRateNs = 250 * kNsPerMs;
constexpr uint64_t kMostSampleTimes = 64;  // that the interval of samples grows
// A start takes seconds where a slow message takes a tenth of one.
constexpr uint32_t kStartSampleTimes = 4;
constexpr uint32_t kSparedSampleTimes = 16;
// Of a program of 100 MB that starts, a stack takes ten times as long as usual: half a millisecond.
// Stacks are rarer, then, so as to take no more than this share of a CPU.
constexpr uint64_t kStackShare = 20;
constexpr uint64_t kMostDearTimes = 4;
constexpr uint64_t kCostWeight = 8;  // of what stacks took before
// A lock's owner is sampled at its own rate, and collected as often as its buffer needs.
constexpr uint32_t kOwnerSampleTimes = 4;
// A blocked thread looks as before; that it goes on is seen late by a small share of its wait.
constexpr uint64_t kBlockedShare = 8;
constexpr uint64_t kMostBlockedTimes = 40;  // 200 ms at 5 ms
// A thread that uses this share of a CPU is looked at often.
constexpr uint64_t kWorkShare = 8;
constexpr size_t kMaxFindings = 16;
constexpr uint64_t kTellAgainNs = 5 * kNsPerSecond;

ReportKind ToReportKind(SignalKind kind) {
  switch (kind) {
    case SignalKind::kInputLatency:
      return ReportKind::kInputLatency;
    case SignalKind::kJank:
      return ReportKind::kJank;
    case SignalKind::kSlowMessage:
      return ReportKind::kSlowMessage;
    case SignalKind::kLag:
      return ReportKind::kLag;
    case SignalKind::kAnr:
      break;
  }
  return ReportKind::kAnr;
}

AnrLimits LimitsOf(const Thresholds& thresholds) {
  return {thresholds.slow_message_ns, thresholds.lag_ns, thresholds.anr_ns,
          thresholds.anr_background_ns};
}

}  // namespace

WatchedThread::WatchedThread(const Options& options, RingFile* ring, size_t index,
                             Refusals* refusals, Seal seal, std::unique_ptr<ThreadSource> source)
    : options_(options),
      ring_(ring),
      index_(index),
      seal_(std::move(seal)),
      tid_(ring->header()->watched[index].tid.load(std::memory_order_acquire)),
      source_(source != nullptr ? std::move(source)
                                : NewLiveThreadSource(ring->header()->pid, tid_)),
      view_(&ring->header()->watched[index]),
      slow_messages_(options.slow_message_ns),
      anrs_(LimitsOf(options), refusals, [this] { return source_->IsTraced(); }),
      frames_(index, refusals),
      incidents_([] { return NewUuid(RealtimeNs() / kNsPerMs); },
                 [this](const IncidentRevision& incident) { SealRevision(incident); }),
      sampler_(source_->NewSampler(
          tid_, {.interval_ms = options.sample_interval_ms, .mode = options.sampler_mode})),
      owner_sampler_(options.sampler_mode, source_.get()),
      peer_finder_(source_.get()),
      refusals_(refusals) {}

bool WatchedThread::Overdue(const RunningDispatch& running, uint64_t now_ns) const {
  if (slow_messages_.Overdue(running, now_ns)) return true;
  // A thread that shows frames is overdue once half the time of a janky frame is over.
  const bool frames =
      ring_->header()->watched[index_].frame_count.load(std::memory_order_relaxed) != 0;
  return frames && now_ns >= running.begin_ns + FrameWatch::JankyNs() / 2;
}

void WatchedThread::NoteHolds(std::span<const Hold> holds) {
  for (const Hold& hold : holds) holds_.Add(hold);
}

AnrFacts WatchedThread::FactsOf(uint64_t begin_ns, uint64_t end_ns) const {
  AnrFacts facts;
  facts.held = holds_.Within(begin_ns, end_ns);
  facts.in_front_ns = InFrontNs(end_ns);
  return facts;
}

void WatchedThread::Look(uint64_t now_ns, const TickConverter& clock, bool asked_by_signal) {
  clock_ = clock;
  const bool new_dispatches = ReadCounts();
  std::optional<RunningDispatch> running = view_.ReadRunning(clock);
  skips_start_up_ = running && other_has_ui_ && running->what == kStartUpName;
  if (skips_start_up_) running.reset();
  // One that ended inside a dispatch (its loop was told to quit) blocks nobody.
  if (running && Overdue(*running, now_ns) && IsGone()) running.reset();
  if (in_tracing_stop_) holds_.Add({RefusalReason::kTraced, looked_ns_, now_ns, 0});
  in_tracing_stop_ = false;
  idle_ = !running && !new_dispatches;
  works_ = false;
  // One that has not begun anything since it was seen waiting is as it was then.
  if (!IsSpared(running, now_ns) && (!idle_ || !timeline_.EndsInAWait())) {
    ReadThread(now_ns, running);
  }
  if (idle_ && dispatches_ != 0) idle_ns_ = now_ns;
  looked_ns_ = now_ns;
  const bool same = running && running_ && running->begin_ticks == running_->begin_ticks;
  running_ = std::move(running);
  if (!ended_) TakeSlow(now_ns);
  if (!input_) input_ = InputLatency::Take(index_, &seen_input_);
  // The slot may still have one of an earlier recording.
  if (input_ && input_->end_ns < ring_->header()->clock_at_start.monotonic_ns) input_.reset();
  const uint64_t begin_ns = running_ ? running_->begin_ns : now_ns;
  AnrFacts facts = FactsOf(begin_ns, now_ns);
  facts.asked_by_signal = asked_by_signal;
  held_ns_ = facts.held.held_ns();
  const uint64_t judged_ns = now_ns - held_ns_;
  Sample(running_ && !IsSpared(running_, judged_ns) && Overdue(*running_, judged_ns));
  JudgeEnded(now_ns);
  if (running_ && running_->what != kStartUpName) {
    slow_messages_.OnRunning(*running_, judged_ns, &incidents_);
    anrs_.OnRunning(*running_, facts, now_ns, &incidents_);
    if (judged_ns >= running_->begin_ns + options_.slow_message_ns) {
      NoteTold(*running_, now_ns);
    }
  }
  const uint64_t unsettled_ns = ended_ ? ended_->begin_ns : running_ ? begin_ns : 0;
  anrs_.Settle(unsettled_ns, now_ns);
  incidents_.Settle(now_ns, unsettled_ns);
  if (incidents_.open()) {
    NoteInRing(*incidents_.open(), false);
    if (threads_of_ == incidents_.open()->id) TakeThreads(*incidents_.open());
  }
  if (!same && !ended_) {
    timeline_.ForgetBefore(begin_ns - std::min(begin_ns, kLateFrameNs));
    if (sampler_ != nullptr) lost_before_ = sampler_->counters().lost;
  }
  // What it does from here on is not read: the last reading is no baseline for what follows.
  const bool unread = IsSpared(running_, now_ns) && !ended_ && !incidents_.open();
  if (unread) timeline_.points().clear();
}

bool WatchedThread::IsSpared(const std::optional<RunningDispatch>& running, uint64_t now_ns) const {
  return spares_ && (!running || now_ns < running->begin_ns + kSparedNs);
}

void WatchedThread::ReadThread(uint64_t now_ns, const std::optional<RunningDispatch>& running) {
  ThreadReading reading = source_->Read();
  in_tracing_stop_ = reading.state == 't';
  if (running && IsWait(reading.wait) && Overdue(*running, now_ns)) {
    peer_finder_.Look(now_ns, running->begin_ticks, &reading, &timeline_);
  }
  bool same_wait = false;
  if (!timeline_.points().empty()) {
    const VerdictTimeline::Point& last = timeline_.points().back();
    same_wait = IsSameWait(last.reading, reading);
    works_ = reading.run_ns - last.reading.run_ns > (now_ns - last.time_ns) / kWorkShare;
  }
  // A lock's owner is looked at, too, and it may run.
  if (!same_wait || reading.lock_owner_tid != 0) moved_ns_ = now_ns;
  timeline_.Add(now_ns, reading);
}

bool WatchedThread::ReadCounts() {
  const RingWatchedThread& thread = ring_->header()->watched[index_];
  const uint64_t dispatches = thread.dispatch_count.load(std::memory_order_relaxed);
  const uint64_t frames = thread.frame_count.load(std::memory_order_relaxed);
  const bool new_dispatches = dispatches != dispatches_;
  began_ = dispatches - dispatches_ + frames - frames_seen_;
  dispatches_ = dispatches;
  frames_seen_ = frames;
  return new_dispatches;
}

void WatchedThread::NoteTold(const RunningDispatch& running, uint64_t now_ns) {
  if (told_.empty() || told_.back().begin_ticks != running.begin_ticks) {
    if (told_.size() >= kMaxTold) told_.erase(told_.begin());
    told_.push_back({running.begin_ticks, running.begin_ns, now_ns});
  }
  told_.back().seen_ns = now_ns;
}

// Messages whose end was missed may have been seen running: they are incidents, and counted as
// that.
void WatchedThread::FinishTold() {
  for (const Told& told : told_) {
    if (told.begin_ticks >= ended_->begin_ticks || ended_->missed == 0) break;
    const uint64_t ns = ended_->missed == 1
                            ? ended_->missed_ns
                            : std::min(told.seen_ns - told.begin_ns, ended_->missed_ns);
    --ended_->missed;
    ended_->missed_ns -= ns;
    if (!incidents_.open() || told.begin_ticks != told_.back().begin_ticks) continue;
    const IncidentRevision open = *incidents_.open();
    incidents_.OnSignal(
        {SignalKind::kSlowMessage, open.begin_ns, open.begin_ns + ns, open.what, 0, 0});
  }
  std::erase_if(told_,
                [this](const Told& told) { return told.begin_ticks <= ended_->begin_ticks; });
}

// The watcher got so little CPU that a second slow message ended before it saw the first one.
void WatchedThread::TakeSlow(uint64_t now_ns) {
  ended_ = view_.TakeSlow(clock_);
  if (!ended_) return;
  FinishTold();
  // It was read before this one began, and is over.
  if (running_ && running_->begin_ticks < ended_->begin_ticks) running_.reset();
  if (ended_->missed == 0) return;
  for (uint32_t i = 0; i < ended_->missed; ++i) refusals_->Add(RefusalReason::kWatcherLate, now_ns);
  missed_ += ended_->missed;
  // First: killed in between, they are not counted twice.
  ring_->watched(index_).NoteSeen(ended_->version - 2, ended_->total_ticks - ended_->own_ticks);
  ring_->uncounted().AddTogether({.id = NewUuid(RealtimeNs() / kNsPerMs),
                                  .kind = static_cast<uint32_t>(ReportKind::kSlowMessage),
                                  .incidents = ended_->missed,
                                  .total_ns = ended_->missed_ns,
                                  .max_ns = ended_->missed_ns / ended_->missed});
}

// What ended by `now_ns`. A later end waits for the next look: whether the process was stopped
// meanwhile is not known yet.
void WatchedThread::JudgeEnded(uint64_t now_ns) {
  if (input_ && input_->end_ns <= now_ns) {
    const uint64_t held_ns = holds_.Within(input_->begin_ns, input_->end_ns).held_ns();
    const bool late = input_->end_ns - input_->begin_ns >= options_.input_latency_ns + held_ns;
    if (late) incidents_.OnSignal(*input_);
    input_.reset();
  }
  frames_.Look(now_ns, holds_, idle_ns_, &incidents_);
  if (ended_ && ended_->end_ns <= now_ns) {
    anrs_.OnEnded(*ended_, FactsOf(ended_->begin_ns, ended_->end_ns), &incidents_);
    // It is noted as an incident, or is none.
    ring_->watched(index_).NoteSeen(ended_->version, ended_->total_ticks);
    ended_.reset();
  }
}

uint64_t WatchedThread::OverdueNs() const {
  return std::max(options_.slow_message_ns / 2, spares_ ? kSparedNs : 0);
}

// Of the running dispatch, as long as it has run.
uint32_t WatchedThread::SampleTimes() const {
  const uint64_t length = (looked_ns_ - running_->begin_ns) / kFullRateNs;
  const uint64_t dear =
      std::min(stack_ns_ * kStackShare / (options_.sample_interval_ms * kNsPerMs), kMostDearTimes);
  const auto times = static_cast<uint32_t>(
      std::bit_floor(std::clamp<uint64_t>(std::max(length, dear), 1, kMostSampleTimes)));
  if (running_->what == kStartUpName) return std::max(times, kStartSampleTimes);
  return spares_ ? std::max(times, kSparedSampleTimes) : times;
}

void WatchedThread::Collect(const StackSampler::Sink& record) {
  uint64_t count = 0;
  const uint64_t before_ns = ClockNs(CLOCK_THREAD_CPUTIME_ID);
  sampler_->Collect([&](const StackSample& sample) {
    ++count;
    record(sample);
  });
  if (count == 0) return;
  const uint64_t one_ns = (ClockNs(CLOCK_THREAD_CPUTIME_ID) - before_ns) / count;
  stack_ns_ += one_ns / kCostWeight - stack_ns_ / kCostWeight;
}

void WatchedThread::Sample(bool overdue) {
  const auto record = [this](const StackSample& sample) { RecordSample(sample, clock_); };
  const bool waits = overdue && timeline_.EndsInAWait();
  if (sampler_ != nullptr) {
    const uint32_t times = overdue ? SampleTimes() : 0;
    if (overdue && sample_times_ == 0) sampler_->Start(times);
    // A thread that waits has a stack at once, one that runs when it was sampled.
    if (sample_times_ != 0 || waits) Collect(record);
    if (!overdue && sample_times_ != 0) sampler_->Stop();
    if (overdue && sample_times_ != 0 && times != sample_times_) sampler_->Start(times);
    sample_times_ = times;
  }
  owner_sampler_.Look(waits ? timeline_.points().back().reading.lock_owner_tid : 0, looked_ns_,
                      record);
}

void WatchedThread::SetThresholds(const Thresholds& thresholds) {
  static_cast<Thresholds&>(options_) = thresholds;
  slow_messages_ = SlowMessageMonitor(thresholds.slow_message_ns);
  anrs_.SetLimits(LimitsOf(thresholds));
}

void WatchedThread::CheckThread() {
  for (std::string& finding : thread_check_.Look(source_->ReadScheduling())) {
    LogWarning(finding);
    if (findings_.size() < kMaxFindings) findings_.push_back(std::move(finding));
  }
}

uint64_t WatchedThread::RestNs() const {
  // What it did before a dispatch is not to count as done in it.
  const bool pending = works_ || ended_ || input_ || incidents_.open() || frames_.pending();
  if (pending || !timeline_.EndsInAWait()) return 0;
  if (!running_) return sample_times_ != 0 ? 0 : kNoTimeout;
  if (running_->what != kStartUpName) return 0;
  const uint64_t rest_ns = std::min((looked_ns_ - moved_ns_) / kStartRestShare, kMaxStartRestNs);
  return rest_ns > kIdleLookNs ? rest_ns : 0;
}

uint64_t WatchedThread::NextLookNs(uint64_t now_ns) const {
  if (sample_times_ == 0) {
    if (!running_) return kIdleLookNs;
    const uint64_t overdue_at = running_->begin_ns + held_ns_ + OverdueNs();
    return overdue_at > now_ns ? std::min(kIdleLookNs, overdue_at - now_ns) : kNsPerMs;
  }
  const uint64_t interval = options_.sample_interval_ms * kNsPerMs;
  if (looked_ns_ > moved_ns_) {
    return std::clamp((looked_ns_ - moved_ns_) / kBlockedShare, interval,
                      kMostBlockedTimes * interval);
  }
  const bool has_owner = timeline_.points().back().reading.lock_owner_tid != 0;
  return (has_owner ? std::min(sample_times_, kOwnerSampleTimes) : sample_times_) * interval;
}

void WatchedThread::Finish(uint64_t now_ns, const TickConverter& clock) {
  do {
    Look(now_ns, clock);
    incidents_.Settle(now_ns, 0);
  } while (frames_.pending());
  if (sample_times_ != 0) sampler_->Stop();
  sample_times_ = 0;
  if (missed_ != 0) {
    LogWarning("slow messages seen too late: " + std::to_string(missed_));
  }
}

void WatchedThread::NoteInRing(const IncidentRevision& incident, bool finished) {
  ring_->incident_note(index_).Write(
      {.id = incident.id,
       .kind = static_cast<uint32_t>(ToReportKind(incident.kind)),
       .begin_ticks = clock_.FromMonotonicNs(incident.begin_ns),
       .end_ticks = finished ? clock_.FromMonotonicNs(incident.end_ns) : 0});
}

// Once an ANR; what is deadlocked is written into the ring again while that lasts, so that it is
// still there when the process is killed.
void WatchedThread::TakeThreads(const IncidentRevision& incident) {
  if (threads_of_ != incident.id) {
    threads_ = std::make_shared<AnrThreads>(source_->TakeThreads());
    threads_of_ = incident.id;
  } else if (threads_->deadlocks.empty() || looked_ns_ < threads_told_ns_ + kTellAgainNs) {
    return;
  }
  RecordAnrThreads(*threads_, clock_);
  threads_told_ns_ = looked_ns_;
}

void WatchedThread::JoinSlowMethod(SealRequest* request) {
  const std::optional<Signal> frame = incidents_.TakeLateFrame(request->begin_ns, request->end_ns);
  if (frame) {
    request->dropped_frames = frame->dropped_frames;
    request->frame_interval_ns = frame->frame_interval_ns;
  }
  request->loop = LoopNameOf(*ring_->header(), index_);
  request->notes.insert(request->notes.end(), findings_.begin(), findings_.end());
  findings_.clear();
}

void WatchedThread::SealRevision(const IncidentRevision& incident) {
  if (incident.ongoing) TakeThreads(incident);
  NoteInRing(incident, !incident.ongoing);
  // Before it is sealed: should the process die right after that, recovery must not use the same
  // number again.
  ring_->incident_note(index_).SetSealedRevision(incident.revision);
  SealRequest request;
  request.id = incident.id;
  request.revision = incident.revision;
  request.kind = ToReportKind(incident.kind);
  request.begin_ns = incident.begin_ns;
  request.end_ns = incident.ongoing ? looked_ns_ : incident.end_ns;
  request.ongoing = incident.ongoing;
  request.what = incident.what;
  request.tid = tid_;
  request.watched_index = index_;
  const HeldTime held = holds_.Within(request.begin_ns, request.end_ns);
  request.held_ns = held.held_ns();
  // What was held is not blamed on anything: the shares are those of the rest.
  holds_.EachFree(request.begin_ns, request.end_ns, [&](uint64_t from, uint64_t to) {
    request.free.push_back({from, to});
  });
  request.readings = timeline_;
  request.background = InFrontNs(request.end_ns) == 0;
  request.notes.insert(request.notes.end(), findings_.begin(), findings_.end());
  if (!incident.ongoing) findings_.clear();
  if (threads_of_ == incident.id) request.threads = threads_;
  if (incident.kind == SignalKind::kAnr) request.anr_limit_ns = anrs_.limit_ns();
  for (std::string& note : HeldNotes(held)) request.notes.push_back(std::move(note));
  request.dropped_frames = incident.dropped_frames;
  request.frame_interval_ns = incident.frame_interval_ns;
  request.input_wait_ns = incident.input_wait_ns;
  request.loop = LoopNameOf(*ring_->header(), index_);
  if (sampler_ != nullptr) {
    request.sampler = sampler_->SourcesUsed();
    request.lost_samples = sampler_->counters().lost - lost_before_;
    if (!sampler_->Notes().empty()) request.notes.push_back(sampler_->Notes());
  }
  seal_(std::move(request));
}

}  // namespace jankbox
