// Jankbox's sealing thread: takes seal requests in order, writes reports into the spool, and
// recovers the rings of dead processes at its start. Low priority; the only thread of ours that
// touches the disk, but for a second one of normal priority that writes an ANR while it lasts: on a
// busy machine the system would end the process before the first had a CPU. Requests come from any
// thread.
#ifndef JANKBOX_SDK_RUNTIME_SEALER_H_
#define JANKBOX_SDK_RUNTIME_SEALER_H_

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/own_thread.h"
#include "diagnosis/seal/report_builder.h"
#include "diagnosis/seal/report_gate.h"
#include "monitors/anr/heartbeat.h"
#include "monitors/incident/refusals.h"
#include "sdk/api/config_file.h"
#include "sdk/api/options.h"
#include "sdk/runtime/cpu_budget.h"
#include "sdk/runtime/crash_loop.h"
#include "sdk/runtime/device_counts.h"
#include "tracer/ftrace/kernel_recorder.h"
#include "tracer/ring/ring_file.h"

namespace jankbox {

class Sealer {
 public:
  static constexpr size_t kMaxQueued = 48;
  static constexpr size_t kMaxUrgent = 4;  // ANRs that last, of different threads

  // Called on the sealing thread: what the live process's window around an incident is to be read
  // with.
  using MakeSource = std::function<ReportSource(const SealRequest&)>;
  // Called on the sealing thread after each request; `sealed` is false where it failed.
  using OnDone = std::function<void(const SealRequest&, bool sealed)>;
  // Called on the sealing thread: the file of thresholds is new.
  using Configure = std::function<Status(const jankbox_options&)>;
  // Called on the sealing thread: there is usage to send.
  using OnUsage = std::function<void()>;

  // `crash_loop` is kept up to date, `kernel` started, on the sealing thread; Stop() stops the
  // latter. All three outlive the sealer.
  Sealer(const Options& options, CrashLoop* crash_loop, KernelRecorder* kernel, Refusals* refusals,
         MakeSource make_source, OnDone on_done, Configure configure = {});
  ~Sealer();

  // The ring in which incidents are noted until they are counted, so that a kill takes no count. It
  // outlives the sealer. REQUIRES that Start() follows.
  void NoteIn(RingFile* ring) {
    ring_ = ring;
    counts_.NoteIn(ring);
  }
  // REQUIRES that Start() follows.
  void TellUsage(OnUsage on_usage) { on_usage_ = std::move(on_usage); }
  // Called on the sealing thread, once it is decided whether there may be hooks. REQUIRES as above.
  void TellDecided(std::function<void()> on_decided) { on_decided_ = std::move(on_decided); }

  // `used_ns` is the CPU time that counts for the budget, in ns. Called on the sealing thread.
  // REQUIRES as above.
  void KeepWithin(std::function<uint64_t()> used_ns) { used_ns_ = std::move(used_ns); }

  // REQUIRES Start() once before Stop(). The thread is created by the caller's runtime.
  bool Start();  // false if the system allows no further thread
  bool running() const { return thread_.running(); }  // who starts it only

  // False where the queue is full: the request is dropped and counted (kQueueFull).
  bool Enqueue(SealRequest request);

  // Counts how much the app was used, and gives the report folder other random ids: soon, on the
  // sealing thread. Any thread.
  void CountUsage() { Want(kUsage); }
  void ResetIds() { Want(kReset); }
  void Decline() { Want(kDecline); }  // UploadDeclined() became true

  // Waits until all requests so far are done, at most until `deadline_ns` (CLOCK_MONOTONIC).
  bool WaitIdle(uint64_t deadline_ns);

  // Finishes what is queued, at most until `deadline_ns`, at the caller's priority, and ends the
  // threads. Returns how many requests are left.
  size_t Stop(uint64_t deadline_ns);
  // After Stop(). False: a thread has not ended (OwnThread::Join), and this object must stay.
  bool ended() const { return !left_behind_.load(std::memory_order_relaxed); }

  // CPU time of the sealing threads so far, in ns. Any thread.
  uint64_t cpu_ns() const {
    return cpu_clock_.Read() + urgent_cpu_ns_.load(std::memory_order_relaxed);
  }
  // Any thread.
  Sleeper sleeper() const;
  // Jankbox has used more than the budget, and that is not paid yet. Any thread.
  bool overdrawn(uint64_t now_ns) {
    const uint64_t until_ns = overdrawn_until_ns_.load(std::memory_order_relaxed);
    // Once it should be paid, the account is asked again: watching goes on, and costs, too.
    return until_ns != 0 && (now_ns < until_ns || IsOverdrawn(now_ns));
  }

 private:
  void Run();
  void OpenSpool() REQUIRES(sealing_);
  void ForgetAll() REQUIRES(sealing_) EXCLUDES(mutex_);
  void BecomeIdle() REQUIRES(sealing_) EXCLUDES(mutex_);
  std::optional<SealRequest> TakeRequest() EXCLUDES(mutex_);
  // Waits for the next request, and meanwhile for the moment from which this start has lived.
  // False: the thread is to stop.
  bool AwaitRequest(uint64_t lived_ns) EXCLUDES(mutex_);
  // When to do something though there is no request.
  uint64_t NextWorkNs() EXCLUDES(mutex_);
  // False if there is neither a request nor a stop until then.
  bool WaitForRequest(uint64_t deadline_ns) EXCLUDES(mutex_);
  void SealRest(uint64_t deadline_ns) EXCLUDES(mutex_);
  // Work besides requests.
  enum Chore : uint32_t { kUsage = 1, kReset = 2, kDecline = 4 };
  void Want(Chore chore) EXCLUDES(mutex_);
  uint32_t TakeChores() EXCLUDES(mutex_);
  void DoChores() EXCLUDES(mutex_);
  void SealUntil(uint64_t deadline_ns) EXCLUDES(mutex_);
  // False if there can be no thread for it: it is as every other request.
  bool EnqueueUrgent(SealRequest* request) REQUIRES(mutex_);
  void SealUrgent() EXCLUDES(mutex_);
  std::optional<SealRequest> TakeUrgent() REQUIRES(sealing_) EXCLUDES(mutex_);
  void AwaitFirstWindow();
  // Until no thread has run a message for a while, or somebody waits for reports: the CPU time that
  // they take is the app's while it starts.
  void AwaitFirstRest(uint64_t until_ns) EXCLUDES(mutex_);
  // Whether a watched thread is in a message, or others than `messages` have begun.
  bool AppRuns(uint64_t* messages) const;
  void StartKernel();
  // What is left by a stop goes back into the queue.
  void SealOrKeep(const SealRequest& request) REQUIRES(sealing_) EXCLUDES(mutex_);
  // False if `stopping_` came first: nobody was asked about the report, and nothing is written.
  bool SealOne(const SealRequest& request);
  // Only counts it, if there is no CPU time left for more and it says nothing new.
  bool SpareRepeat(const SealRequest& request);
  bool IsOverdrawn(uint64_t now_ns) EXCLUDES(budget_mutex_);
  void TellOfSpared(uint64_t each_ns);
  void Done(const SealRequest& request, bool sealed);
  void LookAtConfigFile();

  const Options options_;
  CrashLoop* const crash_loop_;
  bool young_ = true;  // sealing thread only: crash_loop_ does not know yet that this start lived
  KernelRecorder* const kernel_;
  Refusals* const refusals_;
  const MakeSource make_source_;
  const OnDone on_done_;
  const Configure configure_;
  OnUsage on_usage_;
  std::function<void()> on_decided_;
  std::function<uint64_t()> used_ns_;
  Mutex budget_mutex_;
  CpuBudget budget_ GUARDED_BY(budget_mutex_);
  std::atomic<uint64_t> overdrawn_until_ns_{0};
  RingFile* ring_ = nullptr;
  ConfigFile config_file_;
  // Held by the thread that seals, which these are of. Taken before mutex_.
  Mutex sealing_;
  std::unique_ptr<Spool> spool_;
  std::unique_ptr<ReportGate> gate_;
  DeviceCounts counts_;
  uint64_t told_spared_ = 0;     // incidents that `jankbox run` knows to be counted only
  uint64_t told_spared_ns_ = 0;  // since when
  const bool awaits_window_;     // read by the thread that starts: the app may set variables later
  HealthyMessages healthy_;
  std::shared_ptr<WindowBuffer> buffer_;  // while requests wait
  std::string left_id_;                   // of the request that was left for the stop
  std::shared_ptr<const KernelWindow> left_kernel_;

  Mutex mutex_;
  CondVar changed_;
  std::deque<SealRequest> queue_ GUARDED_BY(mutex_);
  uint32_t chores_ GUARDED_BY(mutex_) = 0;
  std::deque<SealRequest> urgent_ GUARDED_BY(mutex_);
  bool has_urgent_ GUARDED_BY(mutex_) = false;  // the thread of those runs
  OwnThread urgent_thread_;                     // with mutex_ or at the stop
  uint64_t urgent_cpu_before_ns_ = 0;           // of earlier threads of those; sealing_
  std::atomic<uint64_t> urgent_cpu_ns_{0};
  uint32_t idle_waiters_ GUARDED_BY(mutex_) = 0;  // in WaitIdle()
  bool busy_ GUARDED_BY(mutex_) = true;  // until recovery is done and while a request is sealed
  bool stop_ GUARDED_BY(mutex_) = false;
  std::atomic<bool> stopping_{false};  // as stop_: what is begun is left, if it can be
  std::atomic<uint64_t> sleep_{0};     // how often it began or ended to wait: odd while it does
  ThreadCpuClock cpu_clock_;
  std::atomic<bool> left_behind_{false};
  OwnThread thread_;
  OwnThread rest_thread_;  // at the stop
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_SEALER_H_
