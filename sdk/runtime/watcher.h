// Jankbox's watcher thread: finishes the start that must not burden the app (ring growth, clock
// calibration), checks the watched threads, keeps the ring's heartbeat, and hands incidents to
// the sealer. It looks 20 times a second while a dispatch runs, twice in a slow threshold while
// short ones come often (LookPace), and ever more rarely while nothing does (SweepPace).
#ifndef JANKBOX_SDK_RUNTIME_WATCHER_H_
#define JANKBOX_SDK_RUNTIME_WATCHER_H_

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/own_thread.h"
#include "base/recorded_process.h"
#include "monitors/anr/heartbeat.h"
#include "monitors/anr/proc_beat_source.h"
#include "monitors/incident/cpu_shortage.h"
#include "monitors/incident/refusals.h"
#include "sdk/api/desktop_link.h"
#include "sdk/api/foreground.h"
#include "sdk/api/options.h"
#include "sdk/api/threshold_layers.h"
#include "sdk/runtime/atrace_session.h"
#include "sdk/runtime/crash_loop.h"
#include "sdk/runtime/look_pace.h"
#include "sdk/runtime/look_progress.h"
#include "sdk/runtime/overhead.h"
#include "sdk/runtime/run_socket.h"
#include "sdk/runtime/slow_methods.h"
#include "sdk/runtime/startup_watch.h"
#include "sdk/runtime/sweep_pace.h"
#include "sdk/runtime/usage_watch.h"
#include "sdk/runtime/watched_thread.h"
#include "tracer/event/watcher_wake.h"
#include "tracer/ftrace/kernel_recorder.h"
#include "tracer/interpose/thread_recorder.h"
#include "tracer/ring/ring_file.h"

namespace jankbox {

class Watcher {
 public:
  using Seal = std::function<void(SealRequest)>;
  // Of Jankbox's other thread, the sealing one.
  using ReadSealer = std::function<Sleeper()>;

  // `crash_loop`, which outlives the watcher, says whether functions may be hooked.
  Watcher(const Options& options, RingFile* ring, CrashLoop* crash_loop, KernelRecorder* kernel,
          Refusals* refusals, Seal seal, ReadSealer read_sealer);

  // The ring's usage is to be counted: called on the watcher thread. REQUIRES that Start() follows.
  void TellUsage(std::function<void()> count) { count_usage_ = std::move(count); }
  // While `overdrawn` is true at a CLOCK_MONOTONIC in ns, looks and samples are rarer. REQUIRES
  // that Start() follows.
  void SpareWhile(std::function<bool(uint64_t)> overdrawn) { overdrawn_ = std::move(overdrawn); }

  // Called first, on the watcher's thread. REQUIRES that Start() follows.
  void BeginWith(std::function<void()> begin) { begin_ = std::move(begin); }

  bool running() const { return thread_.running(); }
  bool Start();  // false if the system allows no further thread
  // Called last, on the watcher's thread. REQUIRES that Start() follows.
  void EndWith(std::function<void()> end) { end_ = std::move(end); }

  // Polls every thread once more, seals what is growing, and ends the thread. `process_exits`: the
  // main thread has returned from main() or called exit().
  void AskToStop(bool process_exits);
  // Waits for the last look; false at `deadline_ns` (CLOCK_MONOTONIC).
  bool AwaitLastLook(uint64_t deadline_ns) { return progress_.AwaitLast(deadline_ns); }
  // False: its thread has not ended by `deadline_ns` (OwnThread::Join), and this object must stay.
  bool AwaitEnd(uint64_t deadline_ns) { return thread_.Join(deadline_ns); }

  // Changes the thresholds that `given` names, from the next poll on. Any thread.
  Status ChangeThresholds(const jankbox_options& given);

  // The thresholds that apply, for the trace of a report. Any thread.
  std::vector<SnapshotFact> ThresholdFacts() const;

  // Waits until clock and modules are known, some 20 ms after Start(). Any Jankbox thread but the
  // watcher's.
  void WaitReady() { progress_.WaitBegun(); }

  // Looks as soon as it can. Any thread.
  void Wake() { WatcherWake::word().Wake(); }

  // Waits until every thread was checked since the call; false at `deadline_ns`
  // (CLOCK_MONOTONIC). Any thread but the watcher's.
  bool LookNow(uint64_t deadline_ns) { return progress_.AwaitNext(deadline_ns); }

  // The ring's clock as calibrated last. Any thread.
  TickConverter clock() const;

  // The host's modules as of the last change. Any thread.
  ModuleMap modules() const;

  // The tags of the host's atrace library, and those that Jankbox turned on. Any thread.
  ReportAtrace atrace() const { return atrace_.state(); }

  // Gives the library's tags back. Any thread.
  void StopAtrace() { atrace_.Stop(); }

  // SIGQUITs so far. Any thread.
  uint64_t sigquits() const { return sigquits_.load(std::memory_order_relaxed); }

  // CPU time of the watcher's threads so far, in ns. Any thread.
  uint64_t cpu_ns() const;

  // Estimated CPU time of the app's threads that went into recording so far, in ns. Any thread.
  uint64_t recorded_ns() const { return overhead_.recorded_ns(); }

 private:
  void Run();
  void Begin();  // until it is ready
  void CalibrateFirst();
  void Calibrate();
  void NoteSleepOfTheMachine();
  // Within this time of its begin, what begins is seen.
  uint64_t DeadlineNs() const;
  LookPace::Look LookSeen(uint64_t now_ns, uint64_t look_ns);
  void NoteModules();
  void RefreshHooks();
  uint64_t LookAtAll(uint64_t now_ns, uint64_t rested_ns, std::span<const Hold> holds,
                     bool asked_by_signal);
  uint64_t PassSignalsOn(uint64_t next_ns);
  void PassLastSignalsOn();
  uint64_t TakeSignals();
  // Nothing that is to be noticed within a second is only noticed by a sweep.
  bool MaySleepLong() const {
    return hooks_allowed_ && overhead_.rests() && !atrace_.polls() && !DesktopMayAsk();
  }
  void Sweep(uint64_t now_ns);
  void SweepAfterActivity();
  void TakeThresholds();
  void LookAtStart(uint64_t now_ns);
  bool OtherThreadShowsFrames(size_t index) const;
  void CountCpu(uint64_t now_ns);
  std::string NameOfLoop(size_t index) const;
  void TellRunOfLoop(size_t index, bool ended);
  void FollowDesktop(bool first);
  // The ring of `jankbox attach` says nothing about the end of the process that it watches.
  void NoteForeground(uint64_t now_ns) {
    if (RecordedProcess::IsThis()) ring_->NoteForeground(InFrontNs(now_ns) != 0);
  }
  void NoteOomKills();
  void BeginUsage(uint64_t now_ns) {
    if (count_usage_) usage_.Begin(UsageMoment::Read(now_ns));
  }
  void LookAtUsage(uint64_t now_ns) {
    if (count_usage_) usage_.Look(UsageMoment::Read(now_ns));
  }
  void GrowRing();
  void SweepThreadRecords();
  void SealWithNotes(SealRequest request);
  void SealSlowMethod(SealRequest request);

  Options options_;  // thresholds change on the watcher thread
  RingFile* const ring_;
  CrashLoop* const crash_loop_;
  KernelRecorder* const kernel_;
  Refusals* const refusals_;
  const Seal seal_;
  const ReadSealer read_sealer_;
  Overhead overhead_;
  AtraceSession atrace_;
  std::array<std::unique_ptr<WatchedThread>, kMaxWatchedThreads> threads_;
  // For `jankbox run`: the names of the threads, and those of their loops as it knows them.
  std::array<std::string, kMaxWatchedThreads> watched_names_;
  std::array<std::string, kMaxWatchedThreads> told_loops_;
  std::atomic<bool> stop_{false};
  bool process_exits_ = false;  // written before stop_
  std::atomic<uint64_t> sigquits_{0};
  uint64_t owed_sigquits_ = 0;  // to be passed on
  uint64_t seen_sequence_ = 0;  // chunks taken by the last look
  double ns_per_tick_ = 1.0;
  ClockReading rate_since_;  // the first of the two readings that the clock's rate is taken from
  ClockBreak clock_break_;
  const bool awaits_window_ = RunAwaitsWindow();  // as Sealer
  uint32_t hooked_slots_ = 0;
  bool hooks_allowed_ = false;
  SweepPace sweep_pace_;
  uint64_t last_sweep_ticks_ = 0;
  ThreadCpuClock cpu_clock_;
  ThreadRecorder thread_recorder_;
  std::optional<StartupWatch> startup_;  // once it is known when the process began
  SlowMethods slow_methods_;
  std::function<void()> count_usage_;  // empty: usage is not counted
  std::function<bool(uint64_t)> overdrawn_;
  std::function<void()> begin_;
  std::function<void()> end_;
  bool sparing_ = false;  // as of the last look
  UsageWatch usage_;
  CpuAccount cpu_account_;
  std::string oom_file_;  // empty: there is none
  uint64_t counted_thread_drops_ = 0;
  bool ring_may_grow_ = true;  // until a step did not fit

  mutable Mutex mutex_;
  LookProgress progress_;
  TickConverter clock_ GUARDED_BY(mutex_);
  ThresholdLayers thresholds_ GUARDED_BY(mutex_);  // those that are wanted
  bool thresholds_changed_ GUARDED_BY(mutex_) = false;
  ModuleMap modules_ GUARDED_BY(mutex_);
  OwnThread thread_;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_WATCHER_H_
