#include "sdk/runtime/watcher.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/last_error.h"
#include "base/own_thread.h"
#include "base/phase_names.h"
#include "monitors/anr/quit_signal.h"
#include "monitors/frame/frame_hooks.h"
#include "monitors/frame/frame_monitor.h"
#include "monitors/incident/oom_kills.h"
#include "monitors/incident/watched_thread_view.h"
#include "monitors/looper/glib_idle.h"
#include "monitors/looper/input_latency.h"
#include "monitors/looper/loop_hooks.h"
#include "sdk/api/desktop_link.h"
#include "sdk/runtime/run_channel.h"
#include "sdk/runtime/watcher_sleep.h"
#include "tracer/atrace/marker_tap.h"
#include "tracer/event/event_sink.h"
#include "tracer/hook/hook_set.h"
#include "tracer/hook/reentry_guard.h"
#include "tracer/interpose/fd_classes.h"
#include "tracer/ring/chunk_writer.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/ring_checksums.h"
#include "tracer/ring/ring_reader.h"
#include "tracer/ring/watched_slot.h"

namespace jankbox {
namespace {

constexpr uint32_t kFirstCalibrationMs = 10;
constexpr uint64_t kNoteStartNs = 100 * kNsPerMs;  // or hooks come once the start is noted

}  // namespace

Watcher::Watcher(const Options& options, RingFile* ring, CrashLoop* crash_loop,
                 KernelRecorder* kernel, Refusals* refusals, Seal seal, ReadSealer read_sealer)
    : options_(options),
      ring_(ring),
      crash_loop_(crash_loop),
      kernel_(kernel),
      refusals_(refusals),
      seal_(std::move(seal)),
      read_sealer_(std::move(read_sealer)),
      overhead_(ring, options.cpu_budget_permille, options.fixed_mode),
      atrace_(options),
      rate_since_(ring->header()->clock_at_start),
      thread_recorder_(ring->header()->clock_at_start.ticks),
      slow_methods_(options, ring, refusals,
                    [this](SealRequest request) { SealSlowMethod(std::move(request)); }),
      usage_(ring, [this] { count_usage_(); }),
      thresholds_(options) {}

bool Watcher::Start() {
  return thread_.Start([this] { Run(); });
}

void Watcher::AskToStop(bool process_exits) {
  process_exits_ = process_exits;
  stop_.store(true, std::memory_order_release);
  Wake();
}

TickConverter Watcher::clock() const {
  MutexLock lock(&mutex_);
  return clock_;
}

ModuleMap Watcher::modules() const {
  MutexLock lock(&mutex_);
  return modules_;
}

uint64_t Watcher::cpu_ns() const { return cpu_clock_.Read() + overhead_.tick_cpu_ns(); }

void Watcher::CalibrateFirst() {
  ns_per_tick_ =
      MeasureNsPerTick(static_cast<TickSource>(ring_->header()->tick_source), kFirstCalibrationMs);
  Calibrate();
  WatchedSlot::SetClock(ns_per_tick_, options_.slow_message_ns);
  overhead_.Begin(ns_per_tick_);
}

void Watcher::Calibrate() {
  const ClockReading now = ReadClocks(static_cast<TickSource>(ring_->header()->tick_source));
  ring_->NoteCalibration(now);
  MutexLock lock(&mutex_);
  clock_ = TickConverter(rate_since_, now, ns_per_tick_, clock_break_);
}

// A counter that went on while the machine slept is ahead of CLOCK_MONOTONIC from here on; its rate
// is taken again.
void Watcher::NoteSleepOfTheMachine() {
  const TickConverter before = clock();
  const ClockReading now = ReadClocks(static_cast<TickSource>(ring_->header()->tick_source));
  const uint64_t expected_ns = before.ToMonotonicNs(now.ticks);
  if (expected_ns < now.monotonic_ns + Heartbeat::kStopBoundNs) return;
  ns_per_tick_ = before.ns_per_tick();
  rate_since_ = now;
  const uint64_t ahead_ns = expected_ns - now.monotonic_ns;
  const auto ahead_ticks = static_cast<uint64_t>(static_cast<double>(ahead_ns) / ns_per_tick_);
  // Half of it ago the machine was asleep for sure.
  clock_break_ = {now.ticks - ahead_ticks / 2, now.monotonic_ns, ahead_ns};
  Calibrate();
}

// How long to sleep: less if one could not be passed on yet.
uint64_t Watcher::PassSignalsOn(uint64_t next_ns) {
  while (owed_sigquits_ != 0) {
    if (!QuitSignal::PassOn()) return std::min(next_ns, kNsPerMs);
    --owed_sigquits_;
  }
  return next_ns;
}

uint64_t Watcher::TakeSignals() {
  const uint64_t sigquits = QuitSignal::Take();
  sigquits_.fetch_add(sigquits, std::memory_order_relaxed);
  owed_sigquits_ += sigquits;
  return sigquits;
}

void Watcher::PassLastSignalsOn() {
  constexpr int kMostTries = 100;
  if (process_exits_) return;
  for (int tries = 0; owed_sigquits_ != 0 && tries < kMostTries; ++tries) {
    const uint64_t again_ns = PassSignalsOn(kNsPerSecond);
    if (owed_sigquits_ != 0) usleep(static_cast<useconds_t>(again_ns / 1000));
  }
}

uint64_t Watcher::DeadlineNs() const {
  return std::max(options_.slow_message_ns / 2,
                  sparing_ ? WatchedThread::kSparedNs : uint64_t{kNsPerMs});
}

// What the look at `now_ns` saw, where an ordinary one comes in `look_ns`.
LookPace::Look Watcher::LookSeen(uint64_t now_ns, uint64_t look_ns) {
  const uint64_t sequence = ring_->header()->next_sequence.load(std::memory_order_relaxed);
  const uint64_t claims = sequence - std::exchange(seen_sequence_, sequence);
  const uint64_t sweep_ns = sweep_pace_.DueNs(MaySleepLong());
  LookPace::Look seen = {
      .look_ns = look_ns,
      .rest_ns = std::min(sweep_ns - std::min(now_ns, sweep_ns), slow_methods_.NextPollNs()),
      .deadline_ns = DeadlineNs(),
      .began = claims,
  };
  if (owed_sigquits_ != 0) seen.rest_ns = 0;
  if (claims >= WatcherSleep::kBusyClaims) {
    seen.rest_ns = 0;
    seen.look_ns = std::min(look_ns, WatcherSleep::kBusyLookNs);
  }
  for (const auto& thread : threads_) {
    if (thread == nullptr) continue;
    seen.rest_ns = std::min(seen.rest_ns, thread->RestNs());
    seen.began += thread->began();
    // A late frame is judged by what is seen while it lasts.
    if (thread->shows_frames()) seen.deadline_ns = std::min(seen.deadline_ns, look_ns);
  }
  return seen;
}

void Watcher::NoteModules() {
  ModuleMap modules = ModuleMap::Load();
  ring_->WriteModules(modules.Serialize());
  const uint64_t wait_ns = awaits_window_ ? 0 : kNoteStartNs;
  if (!hooks_allowed_) hooks_allowed_ = crash_loop_->HooksAllowed(wait_ns);
  RefreshHooks();
  if (hooks_allowed_) atrace_.FollowModules();  // once its markers are seen
  MutexLock lock(&mutex_);
  modules_ = std::move(modules);
}

void Watcher::RefreshHooks() {
  if (!hooks_allowed_) return;
  const char* loop_name = options_.loop_hooks ? FollowLoopLibraries() : "";
  if (loop_name[0] != '\0') ring_->GuessLoopName(loop_name);
  FollowGlibIdle();
  FollowFrameLibraries(options_.frame_sources);
  ring_->NoteHooksChanging();
  const Result<HookReport> hooked = HookSet::Get().Refresh();
  const uint32_t slots = hooked.ok() ? hooked.value().hooked : hooked_slots_;
  ring_->NoteHooksChanged(slots != std::exchange(hooked_slots_, slots) ? NowTicks() : 0);
  if (!hooked.ok()) SetLastError("no hooks are installed: " + hooked.status().message());
}

uint64_t Watcher::LookAtAll(uint64_t now_ns, uint64_t rested_ns, std::span<const Hold> holds,
                            bool asked_by_signal) {
  uint64_t next_ns = kNsPerSecond;
  TakeThresholds();
  sparing_ = overdrawn_ != nullptr && overdrawn_(now_ns);
  const TickConverter clock = this->clock();
  thread_recorder_.Look();  // before anything is sealed
  CountCpu(now_ns);
  usage_.NoteHolds(holds);
  slow_methods_.NoteHolds(holds);
  slow_methods_.Poll(now_ns, clock);  // before late frames in them become incidents
  for (size_t i = 0; i < kMaxWatchedThreads; ++i) {
    const int32_t tid = ring_->header()->watched[i].tid.load(std::memory_order_acquire);
    if (tid != 0 && threads_[i] == nullptr) {
      kernel_->WatchThread(tid);
      threads_[i] = std::make_unique<WatchedThread>(
          options_, ring_, i, refusals_,
          [this](SealRequest request) { SealWithNotes(std::move(request)); });
      TellRunOfLoop(i, /*ended=*/false);
    }
    if (threads_[i] == nullptr) continue;
    threads_[i]->NoteHolds(holds);
    threads_[i]->NoteRestUntil(rested_ns);
    threads_[i]->Spare(sparing_);
    threads_[i]->NoteOtherUi(OtherThreadShowsFrames(i));
    threads_[i]->Look(now_ns, clock, asked_by_signal);
    next_ns = std::min(next_ns, threads_[i]->NextLookNs(now_ns));
  }
  LookAtStart(now_ns);
  next_ns = std::min(next_ns, slow_methods_.NextPollNs());
  // A dispatch that begins now is to be seen before it is overdue, the first of a thread, too.
  return std::min(next_ns, DeadlineNs());
}

bool Watcher::OtherThreadShowsFrames(size_t index) const {
  for (size_t i = 0; i < kMaxWatchedThreads; ++i) {
    const RingWatchedThread& thread = ring_->header()->watched[i];
    const bool watched = thread.tid.load(std::memory_order_relaxed) != 0;
    if (i != index && watched && thread.frame_count.load(std::memory_order_relaxed) != 0) {
      return true;
    }
  }
  return false;
}

void Watcher::CountCpu(uint64_t now_ns) {
  bool active = slow_methods_.active();
  for (size_t i = 0; i < kMaxWatchedThreads; ++i) {
    const RingWatchedThread& thread = ring_->header()->watched[i];
    const bool runs = thread.dispatch_begin_ticks.load(std::memory_order_relaxed) != 0;
    active = active || (threads_[i] == nullptr ? runs : threads_[i]->NeedsCpuAccount(runs));
  }
  cpu_account_.Read(now_ns, active, sparing_);
}

// "": there is none yet, or there never was one.
std::string Watcher::NameOfLoop(size_t index) const {
  const RingWatchedThread& thread = ring_->header()->watched[index];
  const bool starts_up = DispatchNameText(thread.what) == kStartUpName && thread.loop_name[0] == 0;
  return starts_up ? "" : LoopNameOf(*ring_->header(), index);
}

void Watcher::TellRunOfLoop(size_t index, bool ended) {
  const RingWatchedThread& thread = ring_->header()->watched[index];
  const int32_t tid = thread.tid.load(std::memory_order_relaxed);
  if (!ended) {
    std::string name = ReadProcFile("/proc/self/task/" + std::to_string(tid) + "/comm", 32);
    while (!name.empty() && name.back() == '\n') name.pop_back();
    watched_names_[index] = tid == getpid() ? "main" : name;
  }
  told_loops_[index] = NameOfLoop(index);
  TellRun({.index = index,
           .thread = watched_names_[index],
           .loop = told_loops_[index],
           .messages = thread.dispatch_count.load(std::memory_order_relaxed),
           .ended = ended});
}

Status Watcher::ChangeThresholds(const jankbox_options& given) {
  MutexLock lock(&mutex_);
  const Status changed = thresholds_.Configure(given);
  if (changed.ok()) thresholds_changed_ = true;
  Wake();
  return changed;
}

std::vector<SnapshotFact> Watcher::ThresholdFacts() const {
  MutexLock lock(&mutex_);
  return thresholds_.Facts();
}

void Watcher::TakeThresholds() {
  {
    MutexLock lock(&mutex_);
    if (!thresholds_changed_) return;
    thresholds_changed_ = false;
    static_cast<Thresholds&>(options_) = thresholds_.Now();
  }
  ring_->SetSlowThreshold(options_.slow_message_ns);
  WatchedSlot::SetClock(ns_per_tick_, options_.slow_message_ns);
  FrameMonitor::SetOptions({options_.jank_dropped_frames, options_.frame_policy});
  slow_methods_.SetThresholds(options_);
  for (auto& thread : threads_) {
    if (thread != nullptr) thread->SetThresholds(options_);
  }
}

void Watcher::LookAtStart(uint64_t now_ns) {
  for (auto& thread : threads_) {
    if (thread != nullptr) startup_->OnThread(thread->running_since_ns(), thread->new_frame_ns());
  }
  std::optional<SealRequest> slow =
      startup_->Look(now_ns, InFrontNs(now_ns), {options_.cold_start_ns, options_.warm_start_ns});
  if (slow) SealWithNotes(std::move(*slow));
}

void Watcher::Sweep(uint64_t now_ns) {
  if (!sweep_pace_.IsDue(now_ns, MaySleepLong())) return;
  const bool first = sweep_pace_.first();
  const bool busy = sweep_pace_.Sweeps(now_ns);
  Calibrate();
  // Asks the loader, whose lock an app's thread may own while it waits for this one: not under
  // ours.
  if (modules().Stale()) NoteModules();
  Recorder::ReclaimDeadThreads(ring_);
  atrace_.Look(now_ns);
  FollowDesktop(first);
  if (busy) SweepAfterActivity();
  const bool reads_files = sweep_pace_.ReadsFiles(busy);
  if (reads_files) NoteOomKills();
  if (reads_files && busy) {
    kernel_->Mark();
    cpu_account_.FindQuota();
  }
  LookAtUsage(now_ns);
  SweepThreadRecords();
  // Chunks closed since the last sweep may still get the word of a thread that was interrupted.
  ChecksumClosedChunks(ring_, last_sweep_ticks_);
  last_sweep_ticks_ = NowTicks();
  overhead_.Look(now_ns, ClockNs(CLOCK_THREAD_CPUTIME_ID) + read_sealer_().cpu_ns);
  for (size_t i = 0; i < kMaxWatchedThreads; ++i) {
    if (threads_[i] == nullptr) continue;
    if (busy) threads_[i]->CheckThread();
    if (!threads_[i]->IsGone()) {
      // A start-up has no loop yet, and the program may be killed before it stops.
      if (NameOfLoop(i) != told_loops_[i]) TellRunOfLoop(i, /*ended=*/false);
      continue;
    }
    threads_[i]->Finish(now_ns, clock());
    threads_[i].reset();
    TellRunOfLoop(i, /*ended=*/true);
    InputLatency::Forget(i);
    ring_->watched(i).Release();
  }
}

// What only matters to what happens: it is done as soon as something does again.
void Watcher::SweepAfterActivity() {
  if (hooks_allowed_) FollowFrameLibraries(options_.frame_sources);  // once a window is there
  MarkerTap::ForgetDescriptors();
  FdClasses::ForgetAll();
}

void Watcher::NoteOomKills() {
  if (oom_file_.empty()) return;
  const std::optional<uint64_t> kills = ReadOomKills(oom_file_);
  if (kills) ring_->NoteOomKills(oom_file_, *kills);
  if (!kills) oom_file_.clear();
}

void Watcher::FollowDesktop(bool first) {
  const std::optional<DesktopAsk> ask = PollDesktop(first);
  if (!ask) return;
  if (ask->thresholds.size != 0) {
    MutexLock lock(&mutex_);
    thresholds_.Pin(ask->thresholds);
    thresholds_changed_ = true;
  }
  if (ask->snapshot.empty()) return;
  const uint64_t now_ns = MonotonicNs();
  SealRequest request = RequestByHand(ReportKind::kManual, ask->snapshot, now_ns, now_ns);
  request.tid = getpid();  // not of ours
  SealWithNotes(std::move(request));
}

void Watcher::GrowRing() {
  const auto window_ticks =
      static_cast<uint64_t>(static_cast<double>(ring_->header()->window_ns) / ns_per_tick_);
  const uint64_t now_ticks = NowTicks();
  const uint64_t from_ticks = now_ticks - std::min(now_ticks, window_ticks);
  if (!ring_may_grow_ || !WantsChunks(*ring_, from_ticks)) return;
  const Status grown = ring_->Grow(RingFile::kChunksPerStep);
  ring_may_grow_ = grown.ok();
  if (!grown.ok()) SetLastError("the ring is smaller than requested: " + grown.message());
}

void Watcher::SweepThreadRecords() {
  thread_recorder_.EverySecond();
  const uint64_t dropped = thread_recorder_.lost().events;
  ring_->AddDroppedEvents(dropped - counted_thread_drops_);
  counted_thread_drops_ = dropped;
}

void Watcher::SealWithNotes(SealRequest request) {
  request.cpu = cpu_account_.Between(request.begin_ns, request.end_ns);
  const uint64_t stacks = thread_recorder_.lost().stacks;
  if (stacks != 0) {
    request.notes.push_back(
        std::to_string(stacks) +
        " thread creations so far have no stack, because too many happened at once.");
  }
  if (sparing_) {
    request.notes.push_back(
        "The CPU budget was used up: stacks were sampled a sixteenth as often.");
  }
  seal_(std::move(request));
}

void Watcher::SealSlowMethod(SealRequest request) {
  for (auto& thread : threads_) {
    if (thread != nullptr && thread->tid() == request.tid) thread->JoinSlowMethod(&request);
  }
  SealWithNotes(std::move(request));
}

void Watcher::Begin() {
  ReentryGuard::ExcludeThread();
  if (begin_ != nullptr) begin_();
  NameCurrentThread("jankbox-watch");
  WatchThisThread();  // stack samples come from the reserved share
  cpu_clock_.SetToCurrentThread();
  startup_.emplace(*ring_->header());
  ring_->AllocateFirst();
  NoteForeground(MonotonicNs());
  BeginUsage(MonotonicNs());
  CalibrateFirst();
  ring_->Touch();
  oom_file_ = OomFileOf(ReadProcFile("/proc/self/cgroup"));
  NoteModules();
  progress_.Begins();
}

void Watcher::Run() {
  Begin();
  ProcBeatSource beats(read_sealer_);
  Heartbeat heartbeat(&beats);
  WatcherSleep sleep(ring_->header());
  WatcherSleep::Slept slept;
  while (!stop_.load(std::memory_order_acquire)) {
    const uint64_t now_ns = heartbeat.Wakes();
    ring_->NoteAlive(NowTicks());
    NoteForeground(now_ns);
    if (heartbeat.TakeSuspended()) NoteSleepOfTheMachine();
    const uint64_t sigquits = TakeSignals();
    GrowRing();
    const uint64_t look_ns =
        LookAtAll(now_ns, slept.rested_ns, heartbeat.TakeHolds(), sigquits != 0);
    progress_.Looked();
    const uint64_t passed_ns = PassSignalsOn(look_ns);
    if (!hooks_allowed_ && crash_loop_->HooksAllowed(0)) NoteModules();
    Sweep(now_ns);
    slept = sleep.Sleep(LookSeen(now_ns, passed_ns), clock(), stop_, &heartbeat);
    if (!slept.idle) sweep_pace_.Busy();
  }
  TakeSignals();  // those that came just before the stop
  overhead_.End();
  LookAtUsage(MonotonicNs());
  thread_recorder_.Look();
  slow_methods_.Finish(MonotonicNs(), clock(), process_exits_);
  for (size_t i = 0; i < threads_.size(); ++i) {
    if (ring_->header()->watched[i].tid.load(std::memory_order_relaxed) == 0) continue;
    if (threads_[i] != nullptr) {
      threads_[i]->Finish(MonotonicNs(), clock());
    } else {
      TellRunOfLoop(i, /*ended=*/false);  // since the last look
    }
    TellRunOfLoop(i, /*ended=*/true);
  }
  PassLastSignalsOn();
  progress_.LookedLast();
  if (end_ != nullptr) end_();
  cpu_clock_.End();
}

}  // namespace jankbox
