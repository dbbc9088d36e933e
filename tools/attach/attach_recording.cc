#include "tools/attach/attach_recording.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/own_thread.h"
#include "base/recorded_process.h"
#include "sdk/api/threshold_layers.h"
#include "tracer/event/event_sink.h"
#include "tracer/ring/chunk_writer.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/watched_slot.h"

namespace jankbox::tools {
namespace {

// How long the reports that wait at the end may take.
constexpr uint64_t kStopNs = 10 * kNsPerSecond;
// Its ticks are those of the moments that perf reports.
constexpr TickSource kTicks = TickSource::kClockGettime;

TickConverter ReadClock() {
  const ClockReading now = ReadClocks(kTicks);
  return TickConverter(now, now, /*fallback_ns_per_tick=*/1.0);
}

}  // namespace

AttachRecording::AttachRecording(const Options& options, std::string process,
                                 std::unique_ptr<RingFile> ring)
    : options_(options),
      ring_(std::move(ring)),
      reader_(ring_->base(), ring_->bytes()),
      crash_loop_(options.dir, "jankbox"),
      kernel_(options.kernel, kTicks),
      clock_(ReadClock()),
      code_(std::make_shared<TargetCode>()),
      process_(std::move(process)),
      app_name_(options.app_name),
      sealer_(
          options, &crash_loop_, &kernel_, &refusals_,
          [this](const SealRequest& request) { return MakeSource(request); },
          [this](const SealRequest& request, bool) { OnSealed(request); }) {}

Result<std::unique_ptr<AttachRecording>> AttachRecording::Start(const Options& options,
                                                                const std::string& process) {
  RingOptions ring_options;  // no folder: nothing of it outlives this process
  ring_options.bytes = options.ring_bytes;
  ring_options.tick_source = kTicks;
  ring_options.window_ns = options.window_ns;
  ring_options.slow_threshold_ns = options.slow_message_ns;
  ring_options.app_name = options.app_name;
  Result<std::unique_ptr<RingFile>> ring = RingFile::Create(ring_options);
  if (!ring.ok()) return ring.status();
  std::unique_ptr<AttachRecording> recording(
      new AttachRecording(options, process, std::move(ring.value())));
  const Status opened = Recorder::Open(recording->ring_.get());
  if (!opened.ok()) return opened;
  WatchedSlot::SetClock(/*ns_per_tick=*/1.0, options.slow_message_ns);
  NameCurrentThread("jankbox-watch");  // as readers of a window know who wrote the samples
  WatchThisThread();
  recording->cpu_clock_.SetToCurrentThread();
  ScopedSignalBlock no_signals;
  recording->sealer_.NoteIn(recording->ring_.get());
  recording->sealer_.Start();
  return recording;
}

AttachRecording::~AttachRecording() { Stop(); }

void AttachRecording::Stop() {
  if (std::exchange(stopped_, true)) return;
  Recorder::Close();
  const size_t unsealed = sealer_.Stop(MonotonicNs() + kStopNs);
  if (unsealed != 0) LogWarning(std::to_string(unsealed) + " reports were not written in time");
  if (!sealer_.ended()) _exit(1);  // its thread uses this object
  cpu_clock_.End();
}

void AttachRecording::Seal(SealRequest request) {
  const std::string id = request.id;
  const size_t index = request.watched_index;
  const bool ongoing = request.ongoing;
  if (!sealer_.Enqueue(std::move(request)) && !ongoing) ring_->incident_note(index).Clear(id);
}

void AttachRecording::OnSealed(const SealRequest& request) {
  if (!request.ongoing) ring_->incident_note(request.watched_index).Clear(request.id);
}

void AttachRecording::EverySecond() {
  kernel_.Mark();
  const uint64_t now_ns = MonotonicNs();
  ring_->NoteAlive(now_ns);
  if (WantsChunks(*ring_, now_ns - std::min(now_ns, options_.window_ns))) {
    (void)ring_->Grow(RingFile::kChunksPerStep).ok();  // else chunks are used again earlier
  }
  const TickConverter clock = ReadClock();
  MutexLock lock(&mutex_);
  clock_ = clock;
}

void AttachRecording::SetCode(std::shared_ptr<const TargetCode> code) {
  MutexLock lock(&mutex_);
  code_ = std::move(code);
}

void AttachRecording::SetProcess(const std::string& process) {
  MutexLock lock(&mutex_);
  if (app_name_ == process_) app_name_ = process;  // else it was given
  process_ = process;
}

void AttachRecording::SetNote(std::string note) {
  MutexLock lock(&mutex_);
  note_ = std::move(note);
}

TickConverter AttachRecording::clock() const {
  MutexLock lock(&mutex_);
  return clock_;
}

jankbox::ReportSource AttachRecording::MakeSource(const SealRequest& request) {
  jankbox::ReportSource source;
  source.ring = &reader_;
  {
    MutexLock lock(&mutex_);
    source.modules = code_->modules;
    source.clock = clock_;
    source.process = {RecordedProcess::pid(), process_, 0};
    source.app_name = app_name_;
    if (!note_.empty()) source.notes.push_back(note_);
  }
  source.js_names = true;  // if the process writes a map of them
  source.clock_reading = ReadClocks(kTicks);
  source.window_ns = options_.window_ns;
  const uint64_t start_ns = ring_->header()->clock_at_start.monotonic_ns;
  const uint64_t end_ns = std::min(source.clock_reading.monotonic_ns,
                                   std::max(request.end_ns, start_ns) + kAfterIncidentNs);
  source.end_ticks = source.clock.FromMonotonicNs(end_ns);
  source.kernel = std::make_shared<KernelWindow>(
      kernel_.Read(source.clock.FromMonotonicNs(end_ns - std::min(end_ns, source.window_ns)),
                   source.end_ticks, source.clock));
  source.self_cost.cpu_ns = cpu_clock_.Read() + sealer_.cpu_ns();
  source.self_cost.uptime_ns = MonotonicNs() - start_ns;
  source.history_messages = options_.history_messages;
  source.thresholds = ThresholdLayers(options_).Facts();
  source.suppressed_incidents = refusals_.count(RefusalReason::kQueueFull);
  source.refusals = refusals_.Counts();
  return source;
}

}  // namespace jankbox::tools
