#include "sdk/runtime/sealer.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/last_error.h"
#include "base/log.h"
#include "base/own_thread.h"
#include "diagnosis/seal/recovery.h"
#include "sdk/api/app_transport.h"
#include "sdk/api/incident_listeners.h"
#include "sdk/runtime/run_channel.h"
#include "sdk/runtime/run_socket.h"
#include "tracer/hook/reentry_guard.h"

namespace jankbox {
namespace {

bool AskListeners(const ReportedIncident& incident, Report* report) {
  return IncidentListeners::Get().Ask(incident, report);
}

bool RefuseAll(const ReportedIncident&, Report*) { return false; }

UncountedIncident UncountedOf(const SealRequest& request) {
  const uint64_t duration_ns = request.end_ns - request.begin_ns - request.held_ns;
  return {.id = request.id,
          .kind = static_cast<uint32_t>(request.kind),
          .tid = request.tid,
          .begin_ns = request.begin_ns,
          .end_ns = request.end_ns,
          .what = request.what,
          .total_ns = duration_ns,
          .max_ns = duration_ns};
}

static_assert(Sealer::kMaxQueued + DeviceCounts::kMaxLater < kMaxUncounted,
              "each that waits, those that are counted later, and the one being sealed");

constexpr int kNice = 19;
constexpr useconds_t kStarterUs = 2000;  // the app's thread leaves jankbox_start() meanwhile
constexpr uint64_t kFirstWindowNs = 400 * kNsPerMs;
constexpr uint64_t kStartNs = 3 * kNsPerSecond;  // at most; a third of a report's window
constexpr uint64_t kRestNs = 100 * kNsPerMs;
constexpr uint64_t kLeaveNs = 700 * kNsPerMs;  // the least that a stop gives to who is sealing
constexpr uint64_t kConfigFileEveryNs = 5 * kNsPerSecond;

}  // namespace

Sealer::Sealer(const Options& options, CrashLoop* crash_loop, KernelRecorder* kernel,
               Refusals* refusals, MakeSource make_source, OnDone on_done, Configure configure)
    : options_(options),
      crash_loop_(crash_loop),
      kernel_(kernel),
      refusals_(refusals),
      make_source_(std::move(make_source)),
      on_done_(std::move(on_done)),
      configure_(std::move(configure)),
      budget_(options.cpu_budget_permille, MonotonicNs()),
      config_file_(options.config_file),
      counts_(options_),
      awaits_window_(RunAwaitsWindow()) {}

Sealer::~Sealer() {
  if (thread_.running()) Stop(UINT64_MAX);
}

bool Sealer::Start() {
  return thread_.Start([this] { Run(); });
}

bool Sealer::Enqueue(SealRequest request) {
  // Before anybody may take it: a kill from now on does not take its count.
  const bool ends = !request.ongoing && request.kind != ReportKind::kManual;
  if (ends && ring_ != nullptr) ring_->uncounted().Add(UncountedOf(request));
  MutexLock lock(&mutex_);
  // A later revision of an incident that still waits makes the earlier one needless, and needs no
  // room of its own.
  const std::string id = request.id;
  std::erase_if(urgent_, [&](const SealRequest& queued) { return queued.id == id; });
  if (request.kind == ReportKind::kAnr && request.ongoing && EnqueueUrgent(&request)) {
    std::erase_if(queue_, [&](const SealRequest& queued) { return queued.id == id; });
    return true;
  }
  auto same = std::find_if(queue_.begin(), queue_.end(),
                           [&](const SealRequest& queued) { return queued.id == id; });
  if (same != queue_.end()) {
    *same = std::move(request);
  } else if (queue_.size() < kMaxQueued) {
    queue_.push_back(std::move(request));
  } else {
    refusals_->Add(RefusalReason::kQueueFull, MonotonicNs());
    if (ring_ == nullptr) return false;
    // The app is told that its own incident was not taken; any other one happened all the same.
    if (request.kind == ReportKind::kCustom) ring_->uncounted().Clear(request.id);
    if (ends) ring_->uncounted().MoveTogether(request.id);
    return false;
  }
  changed_.NotifyAll();
  return true;
}

bool Sealer::WaitIdle(uint64_t deadline_ns) {
  MutexLock lock(&mutex_);
  const auto idle = [this]() REQUIRES(mutex_) {
    return queue_.empty() && !busy_ && !has_urgent_ && chores_ == 0;
  };
  ++idle_waiters_;
  changed_.NotifyAll();
  while (!idle() && changed_.WaitUntil(&mutex_, deadline_ns)) {
  }
  --idle_waiters_;
  return idle();
}

size_t Sealer::Stop(uint64_t deadline_ns) {
  {
    MutexLock lock(&mutex_);
    stop_ = true;
    stopping_.store(true, std::memory_order_relaxed);
    changed_.NotifyAll();
  }
  const uint64_t leave_ns = std::max(deadline_ns, MonotonicNs() + kLeaveNs);
  left_behind_.store(!thread_.Join(leave_ns) || !urgent_thread_.Join(leave_ns),
                     std::memory_order_relaxed);
  if (ended()) {
    stopping_.store(false, std::memory_order_relaxed);
    if (!WaitIdle(0) && MonotonicNs() < deadline_ns) SealRest(deadline_ns);
  }
  if (ended()) kernel_->Stop();  // here, since whoever stops is waiting for it
  MutexLock lock(&mutex_);
  return queue_.size() + (busy_ && !ended() ? 1 : 0);
}

// A program that has just begun is about to show its first window. Hooks hold up a library that it
// loads then, and to set tracing up, the kernel stops all CPUs some hundred times.
void Sealer::AwaitFirstWindow() {
  if (!awaits_window_) return;
  const uint64_t deadline_ns = MonotonicNs() + kFirstWindowNs;
  MutexLock lock(&mutex_);
  while (!stop_ && queue_.empty() && changed_.WaitUntil(&mutex_, deadline_ns)) {
  }
}

void Sealer::AwaitFirstRest(uint64_t until_ns) {
  uint64_t messages = 0;
  uint64_t ran_ns = MonotonicNs();
  MutexLock lock(&mutex_);
  while (!stop_ && idle_waiters_ == 0 && chores_ == 0 && queue_.size() < kMaxQueued / 2) {
    const uint64_t now_ns = MonotonicNs();
    if (AppRuns(&messages)) ran_ns = now_ns;
    if (now_ns >= until_ns || now_ns - ran_ns >= kRestNs) return;
    changed_.WaitUntil(&mutex_, std::min(until_ns, now_ns + kRestNs / 4));
  }
}

bool Sealer::AppRuns(uint64_t* messages) const {
  if (ring_ == nullptr) return false;
  uint64_t count = 0;
  bool runs = false;
  for (const RingWatchedThread& thread : ring_->header()->watched) {
    count += thread.dispatch_count.load(std::memory_order_relaxed);
    runs = runs || thread.dispatch_begin_ticks.load(std::memory_order_relaxed) != 0;
  }
  return std::exchange(*messages, count) != count || runs;
}

void Sealer::StartKernel() {
  const std::string refused = kernel_->Start();
  if (!refused.empty() && options_.kernel.mode == FtraceMode::kOn) {
    SetLastError("the kernel's scheduling is not recorded: " + refused);
  }
}

void Sealer::Run() {
  NameCurrentThread("jankbox-seal");
  ReentryGuard::ExcludeThread();
  cpu_clock_.SetToCurrentThread();
  const uint64_t lived_ns = MonotonicNs() + kCriticalNs;
  usleep(kStarterUs);
  AwaitFirstWindow();
  crash_loop_->Begin();  // hooks wait for it
  if (on_decided_ != nullptr) on_decided_();
  StartKernel();  // not as the last on a busy machine: reports wait for it
  setpriority(PRIO_PROCESS, static_cast<id_t>(CurrentTid()), kNice);
  const sched_param no_priority{};
  sched_setscheduler(0, SCHED_BATCH,
                     &no_priority);  // its wake-ups take no CPU from the app's threads
  LookAtConfigFile();
  {
    MutexLock sealing(&sealing_);
    OpenSpool();
    BecomeIdle();
  }
  while (AwaitRequest(lived_ns)) {
    AwaitFirstRest(lived_ns - kCriticalNs + kStartNs);
    MutexLock sealing(&sealing_);
    // Taken here: an urgent one of the same incident may have made it needless.
    if (const std::optional<SealRequest> request = TakeRequest()) SealOrKeep(*request);
    BecomeIdle();
  }
  if (young_) crash_loop_->Ended();
  DoChores();
  MutexLock sealing(&sealing_);
  TellOfSpared(0);
  counts_.Close();
  if (left_behind_.load(std::memory_order_relaxed)) kernel_->Stop();
  cpu_clock_.End();
}

void Sealer::OpenSpool() {
  SpoolLimits limits;
  limits.min_free_bytes = options_.min_free_bytes;
  Result<Spool> spool = Spool::Open(options_.dir, limits);
  if (spool.ok()) {
    spool_ = std::make_unique<Spool>(std::move(spool.value()));
    gate_ = std::make_unique<ReportGate>(options_.dir, options_.repeats, KernelInstant,
                                         AskListeners, refusals_);
    Result<std::vector<std::string>> recovered = RecoverOrphanRings(
        options_.dir, spool_.get(), UploadDeclined() ? RefuseAll : AskListeners, {}, &stopping_);
    if (!recovered.ok()) LogWarning("recovery: " + recovered.status().message());
    if (UploadDeclined()) {
      ForgetAll();
    } else {
      counts_.Open();
    }
    if (on_usage_ && counts_.MaySendUsage()) on_usage_();  // of earlier processes
  } else {
    SetLastError("no reports will be written: " + spool.status().message());
  }
}

// The user declined: what waits is removed, and of what happened until now nothing is written.
void Sealer::ForgetAll() {
  counts_.Forget();
  while (const std::optional<SealRequest> request = TakeRequest()) Done(*request, /*sealed=*/false);
  SpoolLimits limits;
  limits.min_free_bytes = 0;  // a full disk is no reason to keep reports
  Result<Spool> spool = Spool::Open(options_.dir, limits);
  const Status wiped = spool.ok() ? spool.value().Wipe() : spool.status();
  if (!wiped.ok()) SetLastError("reports are not removed: " + wiped.message());
  if (spool_ != nullptr) counts_.Open();
}

void Sealer::BecomeIdle() {
  MutexLock lock(&mutex_);
  if (queue_.empty()) buffer_.reset();  // not kept for a window that may never come
  busy_ = false;
  changed_.NotifyAll();
}

uint64_t Sealer::NextWorkNs() {
  MutexLock sealing(&sealing_);
  const uint64_t look_ns = config_file_.exists() ? MonotonicNs() + kConfigFileEveryNs : UINT64_MAX;
  return std::min(look_ns, counts_.WriteAtNs());
}

bool Sealer::AwaitRequest(uint64_t lived_ns) {
  while (young_) {
    if (MonotonicNs() >= lived_ns) {
      young_ = false;
      crash_loop_->Lived();
      // Not before: at this thread's priority the first reports would wait for it.
      const CollectedRings collected =
          UploadDeclined() ? CollectedRings() : CollectDeadRings(&stopping_);
      if (collected.dropped != 0) LogWarning("old rings of dead processes were dropped");
    } else if (WaitForRequest(lived_ns)) {
      break;
    }
  }
  while (!WaitForRequest(NextWorkNs())) {
    LookAtConfigFile();
    MutexLock sealing(&sealing_);
    if (MonotonicNs() >= counts_.WriteAtNs()) counts_.WriteLater();
  }
  return !stopping_.load(std::memory_order_relaxed);
}

Sleeper Sealer::sleeper() const {
  const uint64_t sleep = sleep_.load(std::memory_order_relaxed);
  return {sleep % 2 == 1 ? sleep : 0, cpu_clock_.Read()};
}

std::optional<SealRequest> Sealer::TakeRequest() {
  MutexLock lock(&mutex_);
  if (queue_.empty()) return std::nullopt;
  SealRequest request = std::move(queue_.front());
  queue_.pop_front();
  busy_ = true;
  return request;
}

bool Sealer::WaitForRequest(uint64_t deadline_ns) {
  for (;; DoChores()) {
    MutexLock lock(&mutex_);
    while (!stop_ && queue_.empty() && chores_ == 0) {
      sleep_.fetch_add(1, std::memory_order_relaxed);
      const bool notified = changed_.WaitUntil(&mutex_, deadline_ns);
      sleep_.fetch_add(1, std::memory_order_relaxed);
      if (!notified && MonotonicNs() >= deadline_ns) return false;
    }
    if (stop_ || chores_ == 0) return true;
  }
}

void Sealer::Want(Chore chore) {
  MutexLock lock(&mutex_);
  chores_ |= chore;
  changed_.NotifyAll();
}

uint32_t Sealer::TakeChores() {
  MutexLock lock(&mutex_);
  const uint32_t chores = chores_;
  chores_ = 0;
  busy_ = true;
  return chores;
}

void Sealer::DoChores() {
  MutexLock sealing(&sealing_);
  const uint32_t chores = TakeChores();
  if ((chores & kDecline) != 0) ForgetAll();
  if ((chores & kReset) != 0) counts_.Reset();
  if ((chores & kUsage) != 0) {
    counts_.CountUsage();
    if (on_usage_ && counts_.MaySendUsage()) on_usage_();
  }
  MutexLock lock(&mutex_);
  busy_ = false;
  changed_.NotifyAll();
}

void Sealer::LookAtConfigFile() {
  const std::optional<Result<jankbox_options>> content = config_file_.Look();
  if (!content) return;
  const Status status = content->ok() ? configure_(content->value()) : content->status();
  if (!status.ok()) SetLastError("thresholds are unchanged: " + status.message());
}

void Sealer::SealOrKeep(const SealRequest& request) {
  if (SealOne(request)) return;
  MutexLock lock(&mutex_);
  queue_.push_front(request);
}

bool Sealer::SpareRepeat(const SealRequest& request) {
  // Listeners are told of each incident, and what happened in it.
  if (gate_ == nullptr || used_ns_ == nullptr || !IncidentListeners::Get().empty()) return false;
  std::optional<Report> repeat = gate_->KnownRepeat(request);
  if (!repeat) return false;
  if (!IsOverdrawn(MonotonicNs())) return false;
  counts_.CountLater(&*repeat);
  gate_->Spared(*repeat);
  TellOfSpared(kNsPerSecond);
  Done(request, /*sealed=*/false);
  return true;
}

bool Sealer::IsOverdrawn(uint64_t now_ns) {
  if (used_ns_ == nullptr) return false;
  MutexLock lock(&budget_mutex_);
  const bool overdrawn = budget_.IsOverdrawn(now_ns, used_ns_());
  overdrawn_until_ns_.store(budget_.PaidAtNs(), std::memory_order_relaxed);
  return overdrawn;
}

// Tells `jankbox run`, at most once in `each_ns`.
void Sealer::TellOfSpared(uint64_t each_ns) {
  const uint64_t spared = refusals_->count(RefusalReason::kOverBudget);
  const uint64_t now_ns = MonotonicNs();
  if (spared == told_spared_ || now_ns < told_spared_ns_ + each_ns) return;
  told_spared_ = spared;
  told_spared_ns_ = now_ns;
  TellRunOfCounted(spared);
}

void Sealer::Done(const SealRequest& request, bool sealed) {
  on_done_(request, sealed);
  IsOverdrawn(MonotonicNs());  // the watcher spares what it can from now on
  if (!request.ongoing) counts_.Settle(request.id);
  counts_.CountRest();
}

bool Sealer::SealOne(const SealRequest& request) {
  bool sealed = false;
  if (stopping_.load(std::memory_order_relaxed)) return false;
  if (UploadDeclined()) {
    counts_.Forget();
    Done(request, /*sealed=*/false);
    if (spool_ != nullptr) counts_.Open();
    return true;
  }
  if (SpareRepeat(request)) return true;
  if (spool_ != nullptr) {
    ReportSource source = make_source_(request);
    if (buffer_ == nullptr) buffer_ = std::make_shared<WindowBuffer>();
    source.buffer = buffer_;
    source.healthy = &healthy_;
    source.healthy_below_ns = options_.slow_message_ns / 2;
    if (request.id == left_id_) source.kernel = left_kernel_;  // reading it again has other losses
    bool left = false;
    const AdmitReport admit = [&](const ReportedIncident& incident, Report* described) {
      left = stopping_.load(std::memory_order_relaxed);
      if (left) return false;
      counts_.Count(described);
      return gate_->Admit(incident, described);
    };
    const Result<Report> report = SealReport(source, request, spool_.get(), admit);
    if (left) {
      left_id_ = request.id;
      left_kernel_ = source.kernel;
      return false;
    }
    sealed = report.ok();
    if (!sealed && report.status().code() != StatusCode::kUnavailable) {
      gate_->NotWritten(request.id);
      refusals_->Add(RefusalReason::kNoSpace, MonotonicNs());
      SetLastError("report " + request.id + " could not be written: " + report.status().message());
    }
  }
  Done(request, sealed);
  return true;
}

}  // namespace jankbox
