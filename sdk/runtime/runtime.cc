#include "sdk/runtime/runtime.h"

#include <unistd.h>

#include <cstring>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/last_error.h"
#include "base/memory/memory_reserve.h"
#include "base/mutex.h"
#include "base/own_thread.h"
#include "base/text/private_text.h"
#include "monitors/anr/quit_signal.h"
#include "monitors/frame/frame_book.h"
#include "monitors/frame/frame_hooks.h"
#include "monitors/frame/frame_monitor.h"
#include "monitors/looper/dispatch_monitor.h"
#include "monitors/looper/glib_idle.h"
#include "monitors/looper/input_latency.h"
#include "monitors/looper/loop_hooks.h"
#include "sdk/api/app_transport.h"
#include "sdk/api/plugins.h"
#include "sdk/runtime/run_socket.h"
#include "tracer/event/event_sink.h"
#include "tracer/hook/hook_set.h"
#include "tracer/interpose/binder_hooks.h"
#include "tracer/interpose/marker_hooks.h"
#include "tracer/interpose/source_hooks.h"
#include "tracer/ring/method_registry.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/ring_place.h"

namespace jankbox {
namespace {

// Rings of earlier recordings. They stay mapped for a while after a stop: a thread of the app may
// have been preempted between checking the gate and writing its event.
constexpr uint64_t kRetirementNs = 10 * kNsPerSecond;

// Of the time for a stop.
constexpr uint64_t kLeftToSealNs = 700 * kNsPerMs;
constexpr uint64_t kLeftToUploadNs = 300 * kNsPerMs;
constexpr uint64_t kLeftToEndNs = 50 * kNsPerMs;
constexpr uint64_t kLeaveNs = 200 * kNsPerMs;  // the least that the watcher's thread has to end

constexpr useconds_t kStarterUs = 500;

struct RetiredRing {
  uint64_t since_ns;
  std::unique_ptr<RingFile> ring;
};

// Touched by Start() and Stop() only, which the C surface never runs at the same time.
std::vector<RetiredRing>& RetiredRings() {
  return MakeOnce([] { return new std::vector<RetiredRing>(); });
}

void UnmapOldRings() {
  const uint64_t now = MonotonicNs();
  std::erase_if(RetiredRings(),
                [now](const RetiredRing& old) { return now - old.since_ns > kRetirementNs; });
}

Result<std::unique_ptr<RingFile>> CreateRing(const Options& options) {
  RingOptions ring_options;
  ring_options.reports_folder = options.dir;
  ring_options.bytes = options.ring_bytes;
  ring_options.tick_source = ChooseTickSource();
  ring_options.window_ns = options.window_ns;
  ring_options.slow_threshold_ns = options.slow_message_ns;
  ring_options.app_name = options.app_name;
  ring_options.app_version = options.app_version;
  ring_options.parent_pid = ParentRunCommand();
  return RingFile::CreateToName(ring_options, RingFolder);
}

void NameRing(const Options& options, RingFile* ring) {
  Status status = Status::Ok();
  // Twice: another process may have removed the folder, empty until now, after it had recovered the
  // last ring in it.
  for (int attempt = 0; attempt < 2 && !ring->is_named(); ++attempt) {
    const Result<std::string> folder = RingFolder(options.dir);
    status = folder.ok() ? ring->Name(folder.value()) : folder.status();
  }
  if (!ring->is_named()) ring->StayInMemory(status.message());
  if (ring->in_memory_reason().empty()) return;
  SetLastError("the ring is in memory only and does not survive a crash: " +
               ring->in_memory_reason());
}

}  // namespace

Runtime::Runtime(const Options& options, std::unique_ptr<RingFile> ring)
    : options_(options),
      pid_(ring->header()->pid),
      ring_(std::move(ring)),
      reader_(ring_->base(), ring_->bytes()),
      crash_loop_(options.dir) {}

Result<std::unique_ptr<Runtime>> Runtime::Start(const Options& options) {
  const uint64_t begin_ns = MonotonicNs();
  UnmapOldRings();
  Result<std::unique_ptr<RingFile>> ring = CreateRing(options);
  if (!ring.ok()) return ring.status();
  std::unique_ptr<Runtime> runtime(new Runtime(options, std::move(ring.value())));
  // A message may be over before the watcher's thread has begun, and measured the clock better.
  const RingHeader& header = *runtime->ring_->header();
  const auto source = static_cast<TickSource>(header.tick_source);
  WatchedSlot::SetClock(NsPerTickSince(source, header.clock_at_start), options.slow_message_ns);
  InputLatency::SetThreshold(options.input_latency_ns);
  FrameMonitor::Start({options.jank_dropped_frames, options.frame_policy});
  FrameBook::Get().Clear();
  CleanTexts(options.clean_texts);
  Status status = Recorder::Open(runtime->ring_.get());
  if (!status.ok()) {
    runtime->ring_->RemoveFile();
    return status;
  }
  MethodRegistry::Get().Attach(runtime->ring_.get());
  Runtime* self = runtime.get();
  runtime->kernel_ = std::make_unique<KernelRecorder>(
      options.kernel, static_cast<TickSource>(runtime->ring_->header()->tick_source));
  runtime->sealer_ = std::make_unique<Sealer>(
      options, &runtime->crash_loop_, runtime->kernel_.get(), &runtime->refusals_,
      [self](const SealRequest& request) { return self->MakeSource(request); },
      [self](const SealRequest& request, bool sealed) { self->OnSealed(request, sealed); },
      [self](const jankbox_options& given) {
        self->watcher_->WaitReady();
        return self->watcher_->ChangeThresholds(given);
      });
  runtime->sealer_->NoteIn(runtime->ring_.get());
  runtime->sealer_->KeepWithin([self] { return self->OwnCpuNs() + self->watcher_->recorded_ns(); });
  runtime->watcher_ = std::make_unique<Watcher>(
      options, runtime->ring_.get(), &runtime->crash_loop_, runtime->kernel_.get(),
      &runtime->refusals_,
      [self](SealRequest request) { self->EnqueueOrForget(std::move(request)); },
      [self] { return self->sealer_->sleeper(); });
  runtime->watcher_->BeginWith([self] { self->GoOn(); });
  runtime->watcher_->EndWith([self] { self->End(); });
  runtime->watcher_->SpareWhile(
      [self](uint64_t now_ns) { return self->sealer_->overdrawn(now_ns); });
  runtime->sealer_->TellDecided([self] { self->watcher_->Wake(); });
  if (options.usage) runtime->ConnectUsage();
  if (!options.upload_url.empty()) runtime->upload_ = std::make_unique<UploadThread>(options);
  if (options.sigquit) {
    const std::string unseen = QuitSignal::Install();
    if (!unseen.empty()) SetLastError("SIGQUIT is not observed: " + unseen);
  }
  if (!runtime->watcher_->Start()) {
    if (!runtime->Stop(MonotonicNs() + kNsPerSecond, /*process_exits=*/false)) runtime.release();
    return Status(StatusCode::kUnavailable, "the system allows no further thread");
  }
  runtime->start_us_.store((MonotonicNs() - begin_ns) / 1000, std::memory_order_relaxed);
  return runtime;
}

// What a start leaves to the watcher's thread, of which no app's thread waits.
void Runtime::GoOn() {
  // A new thread may take the CPU from the one that made it: that one leaves jankbox_start() first.
  usleep(kStarterUs);
  ring_->LeaveAppsTable();  // before it opens anything or makes a thread
  NameRing(options_, ring_.get());
  const RingHeader& ring = *ring_->header();
  crash_loop_.Identify(HeaderText(ring.process_name, sizeof(ring.process_name)), RecorderOf(ring));
  AddHooks();
  StartSealer();
  if (upload_ != nullptr && !upload_->Start()) {
    SetLastError("nothing is uploaded: the system allows no further thread");
  }
}

void Runtime::AddHooks() {
  MutexLock lock(&hooks_mutex_);
  if (hooks_ended_) return;
  HookSet& hooks = HookSet::Get();
  hooks.Begin();
  if (options_.loop_hooks) AddLoopHooks(options_.watch_threads, &hooks);
  AddFrameHooks(options_.frame_sources, &hooks);
  AddMarkerHooks(options_.markers, options_.sources.io, &hooks);
  AddSourceHooks(options_.sources, &hooks);
  if (options_.sources.io) AddBinderHooks(&hooks);
}

void Runtime::RemoveHooks() {
  MutexLock lock(&hooks_mutex_);
  hooks_ended_ = true;
  StopMarkerHooks();
  StopGlibIdle();
  hooks_at_stop_ = HookSet::Get().Modules();
  hooks_stopped_.store(true, std::memory_order_release);
  HookSet::Get().Stop();
}

void Runtime::StartSealer() {
  if (sealer_->running() || sealer_->Start()) return;
  SetLastError("no report is written: the system allows no further thread");
}

bool Runtime::Stop(uint64_t deadline_ns, bool process_exits) {
  kernel_->GiveUpStart();
  watcher_->StopAtrace();  // first: markers that only Jankbox requested must not reach the kernel
  RemoveHooks();
  QuitSignal::Remove();
  stop_by_ns_.store(deadline_ns, std::memory_order_relaxed);
  const bool watched = watcher_->running();
  // Before recording ends: its last poll may seal an incident.
  watcher_->AskToStop(process_exits);
  const bool looked = watched && watcher_->AwaitLastLook(deadline_ns - kLeftToSealNs);
  Recorder::Close();
  if (!looked) End();  // the thread hangs, in the loader maybe, or there is none
  const bool ended =
      watcher_->AwaitEnd(looked ? std::max(deadline_ns, MonotonicNs() + kLeaveNs) : 0);
  // Here in any case, since the next recording has names and a ring of its own.
  MethodRegistry::Get().Detach();
  if (!ended) RemoveRing();
  if (!ended || !parts_ended_) return false;
  if (!ring_kept_) ring_->GiveMemoryBack();
  ring_->CloseFile();
  RetiredRings().push_back({MonotonicNs(), std::move(ring_)});
  return true;
}

// What is left to do once nothing is watched any more: on the watcher's thread, which has the
// descriptors of what is to be closed, if it comes so far in time.
void Runtime::End() {
  if (ending_.exchange(true)) return;
  const uint64_t deadline_ns = stop_by_ns_.load(std::memory_order_relaxed) - kLeftToEndNs;
  const size_t unsealed = sealer_->Stop(deadline_ns - (upload_ == nullptr ? 0 : kLeftToUploadNs));
  parts_ended_ = sealer_->ended();
  if (upload_ != nullptr) parts_ended_ = upload_->Stop(deadline_ns) && parts_ended_;
  RemoveRing();
  if (unsealed == 0) return;
  SetLastError(std::to_string(unsealed) + (unsealed == 1 ? " report was" : " reports were") +
               " not written before the stop" +
               (ring_kept_ ? "; the last of each thread is kept" : ""));
}

void Runtime::RemoveRing() {
  if (!ring_removed_.exchange(true)) ring_kept_ = !ring_->RemoveFile();
}

ReportSource Runtime::MakeSource(const SealRequest& request) {
  watcher_->WaitReady();
  ReportSource source;
  source.ring = &reader_;
  source.names = MethodRegistry::Get().Entries();
  source.modules = watcher_->modules();
  source.js_names = options_.js_names;
  source.clock = watcher_->clock();
  source.clock_reading = ReadClocks(static_cast<TickSource>(ring_->header()->tick_source));
  source.process = {
      pid_, HeaderText(ring_->header()->process_name, sizeof(ring_->header()->process_name)), 0};
  source.app_name = options_.app_name;
  source.app_version = options_.app_version;
  source.window_ns = options_.window_ns;
  // Not the moment at which it is sealed: that may be seconds later on a busy machine.
  const uint64_t end_ns = std::min(
      source.clock_reading.monotonic_ns,
      std::max(request.end_ns, ring_->header()->clock_at_start.monotonic_ns) + kAfterIncidentNs);
  source.end_ticks = source.clock.FromMonotonicNs(end_ns);
  source.kernel = std::make_shared<KernelWindow>(
      kernel_->Read(source.clock.FromMonotonicNs(end_ns - std::min(end_ns, source.window_ns)),
                    source.end_ticks, source.clock));
  ReportSelfCost& cost = source.self_cost;
  cost.watch_ns = watcher_->cpu_ns();
  cost.seal_ns = sealer_->cpu_ns();
  cost.upload_ns = upload_ == nullptr ? 0 : upload_->cpu_ns();
  cost.cpu_ns = cost.watch_ns + cost.seal_ns + cost.upload_ns;
  cost.recording_ns = watcher_->recorded_ns();
  source.sigquits = watcher_->sigquits();
  cost.uptime_ns = MonotonicNs() - ring_->header()->clock_at_start.monotonic_ns;
  cost.cpu_budget_permille = options_.cpu_budget_permille;
  source.history_messages = options_.history_messages;
  cost.start_us = start_us_.load(std::memory_order_relaxed);
  source.suppressed_incidents = refusals_.count(RefusalReason::kQueueFull);
  source.atrace = watcher_->atrace();
  source.refusals = refusals_.Counts();
  source.frames = FrameBook::Get().Summary();
  source.states = StateTags::Get().Between(0, UINT64_MAX);
  source.thresholds = watcher_->ThresholdFacts();
  source.hooks = HookSet::Get().Modules();
  if (hooks_stopped_.load(std::memory_order_acquire)) source.hooks = hooks_at_stop_;
  const std::string hooks_off = crash_loop_.Reason();
  if (!hooks_off.empty()) source.notes.push_back(hooks_off);
  const std::string plugins = Plugins::Get().Note();
  if (!plugins.empty()) source.notes.push_back(plugins);
  const uint64_t without_memory = memory_reserve::Uses();
  if (without_memory != 0) {
    source.notes.push_back("malloc had no memory " + std::to_string(without_memory) +
                           " times: Jankbox went on with its own reserve");
  }
  source.ring_in_memory_only = !ring_->in_memory_reason().empty();
  return source;
}

uint64_t Runtime::OwnCpuNs() const {
  return watcher_->cpu_ns() + sealer_->cpu_ns() + (upload_ == nullptr ? 0 : upload_->cpu_ns());
}

// What is refused is counted, and no incident that recovery would report.
void Runtime::EnqueueOrForget(SealRequest request) {
  const std::string id = request.id;
  const size_t index = request.ongoing ? kMaxWatchedThreads : request.watched_index;
  StartSealer();  // there may be a thread for it by now
  if (!sealer_->Enqueue(std::move(request))) ForgetNote(id, index);
}

void Runtime::ForgetNote(const std::string& id, size_t index) {
  if (index < kMaxWatchedThreads) ring_->incident_note(index).Clear(id);
}

void Runtime::OnSealed(const SealRequest& request, bool sealed) {
  ForgetNote(request.id, request.ongoing ? kMaxWatchedThreads : request.watched_index);
  if (sealed) TryUploads();
  if (!sealed && upload_ != nullptr) upload_->WakeForCounts();
}

Status Runtime::Configure(const jankbox_options* options) {
  const Result<jankbox_options> given = WholeOptions(options);
  return given.ok() ? watcher_->ChangeThresholds(given.value()) : given.status();
}

Status Runtime::Snapshot(const std::string& reason) {
  const uint64_t now_ns = MonotonicNs();
  return SealByHand(ReportKind::kManual, reason, now_ns, now_ns);
}

Status Runtime::ReportIncident(const std::string& what, uint64_t begin_ns, uint64_t end_ns) {
  if (end_ns < begin_ns || end_ns > MonotonicNs()) {
    return Status(StatusCode::kInvalidArgument,
                  "an incident must end after its start, and not in the future");
  }
  return SealByHand(ReportKind::kCustom, what, begin_ns, end_ns);
}

Status Runtime::SealByHand(ReportKind kind, const std::string& what, uint64_t begin_ns,
                           uint64_t end_ns) {
  if (sealer_->Enqueue(RequestByHand(kind, what, begin_ns, end_ns))) return Status::Ok();
  return Status(StatusCode::kBusy, "48 reports are already waiting to be written");
}

void Runtime::ResetIds() { sealer_->ResetIds(); }

void Runtime::ConnectUsage() {
  watcher_->TellUsage([this] { sealer_->CountUsage(); });
  sealer_->TellUsage([this] {
    if (upload_ != nullptr) upload_->WakeForUsage();
  });
}

void Runtime::ApplyConsent() {
  if (!UploadDeclined()) return TryUploads();
  if (upload_ != nullptr) upload_->CancelDrain();
  sealer_->Decline();
}

void Runtime::TryUploads() {
  if (upload_ != nullptr) upload_->Wake();
}

bool Runtime::Flush(uint64_t deadline_ns) {
  const bool sealed = watcher_->LookNow(deadline_ns) && sealer_->WaitIdle(deadline_ns);
  return sealed && (upload_ == nullptr || upload_->WaitIdle(deadline_ns));
}

}  // namespace jankbox
