// All that the watcher keeps for one watched thread: its view, probe, sampler, monitors and
// incident. Lives on the watcher thread.
#ifndef JANKBOX_SDK_RUNTIME_WATCHED_THREAD_H_
#define JANKBOX_SDK_RUNTIME_WATCHED_THREAD_H_

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "base/clock.h"
#include "diagnosis/seal/seal_request.h"
#include "monitors/anr/anr_monitor.h"
#include "monitors/frame/frame_watch.h"
#include "monitors/incident/held_time.h"
#include "monitors/incident/incident_tracker.h"
#include "monitors/incident/refusals.h"
#include "monitors/incident/verdict_timeline.h"
#include "monitors/incident/watched_thread_view.h"
#include "monitors/looper/slow_message_monitor.h"
#include "monitors/thread/ui_thread_check.h"
#include "sdk/api/options.h"
#include "sdk/runtime/lock_owner_sampler.h"
#include "sdk/runtime/peer_finder.h"
#include "sdk/runtime/thread_source.h"
#include "tracer/ring/ring_file.h"
#include "tracer/sampling/stack_sampler.h"

namespace jankbox {

class WatchedThread {
 public:
  using Seal = std::function<void(SealRequest)>;

  // `index` is its slot in `ring`, which another thread holds already. `source` answers questions
  // about the thread; null: the live one.
  WatchedThread(const Options& options, RingFile* ring, size_t index, Refusals* refusals, Seal seal,
                std::unique_ptr<ThreadSource> source = nullptr);

  // Stretches in which this process could not run, known before the look that they count for.
  void NoteHolds(std::span<const Hold> holds);
  // Whether another thread shows frames, known before the look: what this one does before it has a
  // loop delays nobody then, and is not sampled.
  void NoteOtherUi(bool other_has_ui) { other_has_ui_ = other_has_ui; }

  // Nothing began on any thread between the last look and `ns` of CLOCK_MONOTONIC.
  void NoteRestUntil(uint64_t ns) {
    if (idle_) idle_ns_ = std::max(idle_ns_, ns);
  }
  // Whether it matters to this thread how short the CPU is, as of the last look and if it `runs` a
  // dispatch now. A start-up that waits does not ask.
  bool NeedsCpuAccount(bool runs) const {
    return !skips_start_up_ && (running_ ? RestNs() == 0 : runs);
  }

  // One look at the thread at `now_ns`, up to which the holds are known. Takes samples and seals
  // revisions as needed.
  void Look(uint64_t now_ns, const TickConverter& clock, bool asked_by_signal = false);

  // A slow method of this thread is an incident: adds what else is known of it. A late frame in it
  // is the same incident.
  void JoinSlowMethod(SealRequest* request);

  // Once a second: whether the thread still has the priority that it was started with. What is
  // found is logged, and told by its next report.
  void CheckThread();

  void SetThresholds(const Thresholds& thresholds);

  // The CPU budget is used up: from the next look on, what is shorter than kSparedNs is not
  // sampled, and what is longer a sixteenth as often.
  static constexpr uint64_t kSparedNs = 50 * kNsPerMs;
  void Spare(bool spares) { spares_ = spares; }

  // When the running dispatch began, 0: none. When the first frame of the last look ended, 0: it
  // saw none.
  uint64_t running_since_ns() const { return running_ ? running_->begin_ns : 0; }
  uint64_t new_frame_ns() const { return frames_.earliest_end_ns(); }

  // For how long, in ns, nothing is to be looked at unless something begins, as of the last look;
  // 0: something goes on.
  uint64_t RestNs() const;
  // Dispatches and frames between the last two looks.
  uint64_t began() const { return began_; }
  // It has shown a frame, once.
  bool shows_frames() const { return frames_seen_ != 0; }

  // How long until the next look, in ns.
  uint64_t NextLookNs(uint64_t now_ns) const;

  // No more looks: what is growing is finished as of `now_ns`.
  void Finish(uint64_t now_ns, const TickConverter& clock);

  int32_t tid() const { return tid_; }
  bool IsGone() const { return source_->IsGone(); }
  const StackSampler* sampler() const { return sampler_.get(); }

 private:
  // A message that is an incident, and whose end was not taken yet.
  struct Told {
    uint64_t begin_ticks = 0;
    uint64_t begin_ns = 0;
    uint64_t seen_ns = 0;  // when it was last seen running
  };
  static constexpr size_t kMaxTold = 8;

  bool ReadCounts();  // true: a dispatch began
  // Too short so far to be looked at more closely than to be counted.
  bool IsSpared(const std::optional<RunningDispatch>& running, uint64_t now_ns) const;
  void ReadThread(uint64_t now_ns, const std::optional<RunningDispatch>& running);
  uint64_t OverdueNs() const;  // how long a dispatch lasts until it is sampled
  uint32_t SampleTimes() const;
  void Collect(const StackSampler::Sink& record);
  void Sample(bool overdue);
  void TakeSlow(uint64_t now_ns);
  void NoteTold(const RunningDispatch& running, uint64_t now_ns);
  void FinishTold();
  void JudgeEnded(uint64_t now_ns);
  AnrFacts FactsOf(uint64_t begin_ns, uint64_t end_ns) const;
  void SealRevision(const IncidentRevision& incident);
  void TakeThreads(const IncidentRevision& incident);
  void NoteInRing(const IncidentRevision& incident, bool finished);
  bool Overdue(const RunningDispatch& running, uint64_t now_ns) const;

  Options options_;
  RingFile* const ring_;
  const size_t index_;
  const Seal seal_;
  const int32_t tid_;
  const std::unique_ptr<ThreadSource> source_;
  WatchedThreadView view_;
  VerdictTimeline timeline_;
  SlowMessageMonitor slow_messages_;
  AnrMonitor anrs_;
  FrameWatch frames_;
  IncidentTracker incidents_;
  std::unique_ptr<StackSampler> sampler_;
  LockOwnerSampler owner_sampler_;
  bool spares_ = false;
  PeerFinder peer_finder_;
  TickConverter clock_;
  UiThreadCheck thread_check_;
  std::vector<std::string> findings_;  // that no report has told yet
  HoldHistory holds_;
  std::optional<RunningDispatch> running_;
  Refusals* const refusals_;
  uint64_t missed_ = 0;                // slow messages that ended unseen
  std::optional<SlowDispatch> ended_;  // not judged yet
  std::vector<Told> told_;
  std::shared_ptr<const AnrThreads> threads_;  // of the ANR that was raised last
  std::string threads_of_;                     // its id
  uint64_t threads_told_ns_ = 0;               // when they were written into the ring
  uint64_t looked_ns_ = 0;
  bool other_has_ui_ = false;
  bool skips_start_up_ = false;   // as of the last look
  uint64_t moved_ns_ = 0;         // when it was seen in another wait than before, or in none
  uint64_t held_ns_ = 0;          // of the running dispatch, as of the last look
  uint64_t idle_ns_ = 0;          // when it was last known to wait for a message
  bool idle_ = false;             // as of the last look
  bool works_ = false;            // it used a CPU much between the last two readings
  bool in_tracing_stop_ = false;  // as of the last look
  std::optional<Signal> input_;   // not judged yet
  uint32_t seen_input_ = 0;       // InputLatency::Take()'s
  uint64_t dispatches_ = 0;       // begun by the last look
  uint64_t frames_seen_ = 0;      // ended by then
  uint64_t began_ = 0;            // of both, since the look before
  uint64_t lost_before_ = 0;      // the sampler's losses before the running dispatch
  uint32_t sample_times_ = 0;     // how many intervals are between its samples; 0: it has none
  uint64_t stack_ns_ = 0;         // CPU time that one takes, of late
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_WATCHED_THREAD_H_
