#include "tracer/sampling/stack_sampler.h"

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "tracer/sampling/fd_class.h"
#include "tracer/sampling/perf_source.h"
#include "tracer/sampling/proc_source.h"
#include "tracer/sampling/signal_source.h"
#include "tracer/unwind/unwinder.h"

namespace jankbox {

namespace {

constexpr size_t kBlockedStackBytes = 128 * 1024;  // GTK's reach 92 KiB

// The watcher waits for an answer at least this long, and no longer than that.
constexpr uint32_t kMinSignalWaitMs = 2;
constexpr uint32_t kMaxSignalWaitMs = 10;

class ThreadSampler final : public StackSampler {
 public:
  ThreadSampler(int tid, const Options& options);

  void Start(uint32_t times) override;
  void Stop() override;
  void Collect(const Sink& sink) override;
  const Counters& counters() const override { return counters_; }
  std::string SourcesUsed() const override;
  std::string Notes() const override { return notes_; }
  const ModuleMap& modules() const override { return modules_; }

 private:
  void OpenPerf();
  void OpenSignal();
  void AddNote(const std::string& sentence);
  bool RefreshModules();
  void Begin(SampleSource source, uint64_t time_ns);
  void Unwind(const Registers& registers, const StackCopy& stack);
  void Pass(const Sink& sink);
  bool CollectPerf(bool modules_changed, const Sink& sink);
  void CollectProc(const Sink& sink);
  void CollectBlocked(const ProcSource::View& view, const Sink& sink);
  void CollectRunning(const Sink& sink);

  const int tid_;
  const Options options_;
  Unwinder unwinder_;
  ProcSource proc_;
  std::unique_ptr<PerfSource> perf_;      // null if refused or not wanted
  std::unique_ptr<SignalSource> signal_;  // null if not needed
  std::vector<std::byte> blocked_stack_;
  ModuleMap modules_;
  StackSample sample_;
  Counters counters_;
  bool is_of_block_ = false;  // sample_, whose thread may still be there
  bool used_[4] = {};         // by SampleSource
  std::string notes_;
};

ThreadSampler::ThreadSampler(int tid, const Options& options)
    : tid_(tid), options_(options), proc_(tid), blocked_stack_(kBlockedStackBytes) {
  if (options_.mode != Mode::kProcOnly && options_.mode != Mode::kSignalOnly) OpenPerf();
  if (options_.mode == Mode::kSignalOnly || (options_.mode == Mode::kAuto && perf_ == nullptr)) {
    OpenSignal();
  }
  if (!proc_.sees_system_calls()) {
    AddNote("/proc/self/task/TID/syscall cannot be read: blocked threads have no stacks.");
  }
  if (!unwinder_.note().empty()) AddNote(unwinder_.note());
  modules_ = ModuleMap::Load();
  unwinder_.SetModules(&modules_);
}

void ThreadSampler::OpenPerf() {
  auto perf = PerfSource::Open(tid_);
  if (!perf.ok()) {
    AddNote("The kernel does not permit perf (" + perf.status().message() + ").");
    return;
  }
  perf_ = std::move(perf.value());
  if (!perf_->sees_kernel()) {
    AddNote("perf is restricted to user space: a thread that runs in the kernel has no stack.");
  }
}

void ThreadSampler::OpenSignal() {
  auto signal = SignalSource::Create(tid_);
  if (!signal.ok()) {
    AddNote("Running threads have no stacks: " + signal.status().message() + ".");
    return;
  }
  signal_ = std::move(signal.value());
  AddNote("Running threads are sampled with signal " + signal_->SignalName() + ".");
}

void ThreadSampler::AddNote(const std::string& sentence) {
  if (!notes_.empty()) notes_ += ' ';
  notes_ += sentence;
}

// True if modules came or went since the last poll.
bool ThreadSampler::RefreshModules() {
  if (!modules_.Stale()) return false;
  modules_ = ModuleMap::Load();
  unwinder_.SetModules(&modules_);
  is_of_block_ = false;
  return true;
}

void ThreadSampler::Start(uint32_t times) {
  RefreshModules();
  if (perf_ != nullptr) perf_->Enable(uint64_t{times} * options_.interval_ms * kNsPerMs);
}

void ThreadSampler::Stop() {
  if (perf_ != nullptr) perf_->Disable();
}

void ThreadSampler::Collect(const Sink& sink) {
  const bool modules_changed = RefreshModules();
  if (perf_ != nullptr && CollectPerf(modules_changed, sink)) return;
  if (options_.mode != Mode::kPerfOnly) {
    CollectProc(sink);
  } else if (perf_ == nullptr) {
    Begin(SampleSource::kNone, MonotonicNs());
    Pass(sink);
  }
}

void ThreadSampler::Begin(SampleSource source, uint64_t time_ns) {
  is_of_block_ = false;
  sample_ = StackSample();
  sample_.time_ns = time_ns;
  sample_.tid = tid_;
  sample_.source = source;
}

void ThreadSampler::Unwind(const Registers& registers, const StackCopy& stack) {
  unwinder_.Unwind(registers, stack, &sample_);
  if (modules_.Stale()) sample_.uncertain = true;
}

void ThreadSampler::Pass(const Sink& sink) {
  ++counters_.taken;
  if (sample_.truncated) ++counters_.truncated;
  used_[static_cast<size_t>(sample_.source)] = true;
  sink(sample_);
}

// True if perf had samples: those were taken before now, maybe before the modules changed.
bool ThreadSampler::CollectPerf(bool modules_changed, const Sink& sink) {
  bool any = false;
  PerfSample taken;
  while (perf_->Next(&taken)) {
    any = true;
    Begin(SampleSource::kPerf, taken.time_ns);
    sample_.running = true;
    sample_.state = 'R';
    sample_.uncertain = modules_changed;
    Unwind(taken.registers, taken.stack);
    Pass(sink);
  }
  counters_.lost += perf_->TakeLost();
  return any;
}

void ThreadSampler::CollectProc(const Sink& sink) {
  if (is_of_block_ && proc_.IsAsBefore()) {
    sample_.time_ns = MonotonicNs();
    return Pass(sink);
  }
  ProcSource::View view;
  switch (proc_.LookAt(blocked_stack_, &view)) {
    case ProcSource::Look::kBlocked:
      CollectBlocked(view, sink);
      return;
    case ProcSource::Look::kRunning:
      CollectRunning(sink);
      return;
    case ProcSource::Look::kMoved:
    case ProcSource::Look::kGone:
      ++counters_.lost;
      return;
  }
}

void ThreadSampler::CollectBlocked(const ProcSource::View& view, const Sink& sink) {
  Begin(SampleSource::kProc, MonotonicNs());
  sample_.state = view.state;
  sample_.syscall = static_cast<int32_t>(view.call.number);
  if (TakesFd(sample_.syscall)) sample_.fd_class = ClassifyFd(view.call.first_argument);
  Unwind(view.registers, view.stack);
  is_of_block_ = true;
  Pass(sink);
}

void ThreadSampler::CollectRunning(const Sink& sink) {
  Begin(SampleSource::kProc, MonotonicNs());
  if (signal_ != nullptr) {
    SignalSample taken;
    const uint32_t wait = std::clamp(options_.interval_ms, kMinSignalWaitMs, kMaxSignalWaitMs);
    if (signal_->Capture(wait, &taken)) {
      Begin(SampleSource::kSignal, taken.time_ns);
      Unwind(taken.registers, taken.stack);
    } else {
      ++counters_.lost;
    }
  }
  sample_.running = true;
  sample_.state = 'R';
  Pass(sink);
}

std::string ThreadSampler::SourcesUsed() const {
  constexpr const char* kNames[] = {"", "perf", "proc", "signal"};
  std::string names;
  for (size_t i = 1; i < std::size(kNames); ++i) {
    if (!used_[i]) continue;
    if (!names.empty()) names += '+';
    names += kNames[i];
  }
  return names;
}

}  // namespace

Result<std::unique_ptr<StackSampler>> StackSampler::Create(int tid, const Options& options) {
  if (tid <= 0 || options.interval_ms == 0) {
    return Status(StatusCode::kInvalidArgument, "a thread id and an interval are required");
  }
  return std::unique_ptr<StackSampler>(std::make_unique<ThreadSampler>(tid, options));
}

}  // namespace jankbox
