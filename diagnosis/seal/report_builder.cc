#include "diagnosis/seal/report_builder.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/clock.h"
#include "base/file.h"
#include "diagnosis/blame/blame.h"
#include "diagnosis/blame/call_tree.h"
#include "diagnosis/blame/report_history.h"
#include "diagnosis/seal/anr_report.h"
#include "diagnosis/seal/frame_report.h"
#include "diagnosis/verdict/longest_waits.h"
#include "diagnosis/verdict/window_verdict.h"
#include "report/report_encoder.h"
#include "tracer/ring/record_modes.h"
#include "tracer/snapshot/snapshot.h"

namespace jankbox {
namespace {

constexpr uint64_t kExpectedReportBytes = 64 << 10;

// The data of a report and its trace, once the window is copied and everything has a name.
struct Evidence {
  RingWindow window;
  MethodNames names;
  FrameTable frames;
  std::vector<StackSample> samples;  // of the incident's thread, within the incident
  ThreadNames thread_names;          // of living threads
};

std::string OsName() {
  struct utsname name {};
  if (uname(&name) != 0) return "";
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

// Of every thread of this process.
ThreadNames NamesOfThreads() {
  ThreadNames names;
  const Result<std::vector<std::string>> tids = ListDirectory("/proc/self/task");
  if (!tids.ok()) return names;
  for (const std::string& tid : tids.value()) {
    std::string name = ReadProcFile("/proc/self/task/" + tid + "/comm", 64);
    while (!name.empty() && name.back() == '\n') name.pop_back();
    if (!name.empty()) names[atoi(tid.c_str())] = name;
  }
  return names;
}

// Names of the methods that the window uses; those known by address through the symbol tables.
MethodNames NameMethods(const std::vector<MethodRegistry::Entry>& entries, const RingWindow& window,
                        const ModuleMap& modules) {
  std::set<uint32_t> used;
  for (const WindowThread& thread : window.threads) {
    for (const WindowChunk& chunk : thread.chunks) {
      for (const OpenCall& call : chunk.open_calls) used.insert(call.id);
      EventCursor cursor(chunk);
      EventRecord record;
      while (cursor.Next(&record)) {
        const bool dispatch = record.kind == EventKind::kDispatchBegin;
        if (!dispatch && record.kind != EventKind::kStackSample) used.insert(record.id);
      }
    }
  }
  std::vector<uint64_t> addresses;
  for (const auto& entry : entries) {
    if (entry.address != 0 && used.count(entry.id) != 0) addresses.push_back(entry.address);
  }
  const FrameTable functions = ResolveAddresses(modules, addresses);
  MethodNames names;
  for (const auto& entry : entries) {
    if (used.count(entry.id) == 0) continue;
    if (!entry.name.empty()) {
      names.Set(entry.id, entry.name);
    } else if (auto it = functions.find(entry.address);
               it != functions.end() && !it->second.function.empty()) {
      names.Set(entry.id, it->second.function);
    }
  }
  return names;
}

Evidence Gather(const ReportSource& source, const SealRequest& request) {
  Evidence evidence;
  const uint64_t end_ns = source.clock.ToMonotonicNs(source.end_ticks);
  const uint64_t from_ns = end_ns - std::min(end_ns, source.window_ns);
  const uint64_t from_ticks =
      std::max(source.clock.FromMonotonicNs(from_ns), source.ring->header().clock_at_start.ticks);
  evidence.window = source.ring->CopyWindow(from_ticks, source.end_ticks, source.buffer);
  if (source.process.pid == getpid()) evidence.thread_names = NamesOfThreads();
  evidence.names = NameMethods(source.names, evidence.window, source.modules);
  std::vector<uint64_t> addresses;
  const uint64_t begin = source.clock.FromMonotonicNs(request.begin_ns);
  const uint64_t end = source.clock.FromMonotonicNs(request.end_ns);
  for (const StackSample& sample : SamplesOf(evidence.window, 0)) {
    addresses.insert(addresses.end(), sample.pcs, sample.pcs + sample.depth);
    const bool inside = sample.time_ns >= begin && sample.time_ns <= end &&
                        sample.source != SampleSource::kCreation;
    if (inside && sample.tid == request.tid) evidence.samples.push_back(sample);
  }
  if (request.threads != nullptr) {
    for (const StackSample& stack : request.threads->stacks) {
      addresses.insert(addresses.end(), stack.pcs, stack.pcs + stack.depth);
    }
  }
  evidence.frames = ResolveAddresses(source.modules, addresses);
  return evidence;
}

// Compares the message of `request` with healthy ones; learns from the others in the window.
void CompareWithHealthy(const ReportSource& source, const SealRequest& request,
                        const Evidence& evidence, Report* report) {
  if (source.healthy == nullptr || request.tid == 0) return;
  const uint64_t begin = source.clock.FromMonotonicNs(request.begin_ns);
  const uint64_t end = source.clock.FromMonotonicNs(request.end_ns);
  const double ns = source.clock.ns_per_tick();
  const auto to_ns = [ns](uint64_t ticks) {
    return static_cast<uint64_t>(static_cast<double>(ticks) * ns);
  };
  const std::vector<MessageProfile> messages = MessagesOf(evidence.window, request.tid);
  const auto below = static_cast<uint64_t>(static_cast<double>(source.healthy_below_ns) / ns);
  source.healthy->Learn(messages, begin, below);
  // The message that covers most of the incident; one that still runs is not among them.
  const auto inside = [&](const MessageProfile& message) {
    const uint64_t from = std::max(message.begin_ticks, begin);
    const uint64_t to = std::min(message.end_ticks, end);
    return to > from ? to - from : 0;
  };
  const auto bad = std::max_element(
      messages.begin(), messages.end(),
      [&](const MessageProfile& a, const MessageProfile& b) { return inside(a) < inside(b); });
  if (bad == messages.end() || inside(*bad) < (end - begin) / 2) return;
  const Difference difference = source.healthy->Compare(*bad);
  report->healthy_messages = difference.messages;
  report->healthy_median_ns = to_ns(difference.median_ticks);
  for (const ExtraMethod& method : difference.methods) {
    const std::string* name = evidence.names.Find(method.id);
    report->extra.push_back({name != nullptr ? *name : "method #" + std::to_string(method.id),
                             to_ns(method.extra_ticks), to_ns(method.usual_ticks)});
  }
}

ReportStartup ToReport(const StartupTimes& times) {
  const auto since_begin = [&](uint64_t ns) { return ns == 0 ? 0 : ns - times.begin_ns; };
  return {times.cold, times.cold ? since_begin(times.recorder_ns) : 0,
          since_begin(times.first_dispatch_ns), since_begin(times.first_frame_ns),
          since_begin(times.drawn_ns)};
}

std::vector<ReportMode> ModesOf(const ReportSource& source, const RingWindow& window) {
  std::vector<ReportMode> modes;
  for (const RecordedMode& mode :
       RecordModesBetween(source.ring->header(), window.from_ticks, window.to_ticks)) {
    const uint64_t from = source.clock.ToBoottimeNs(std::max(mode.from_ticks, window.from_ticks));
    if (!modes.empty()) modes.back().to_ns = from;
    modes.push_back({RecordModeName(mode.mode), RecordModeReasonName(mode.reason), from,
                     source.clock.ToBoottimeNs(window.to_ticks)});
  }
  return modes;
}

// The largest delay of the shared tick, if coarse mode was active.
uint64_t ClockErrorNs(const ReportSource& source, const std::vector<ReportMode>& modes) {
  const std::string coarse = RecordModeName(RecordMode::kCoarse);
  const bool held = std::any_of(modes.begin(), modes.end(),
                                [&](const ReportMode& mode) { return mode.mode == coarse; });
  const uint64_t ticks = source.ring->header().coarse_error_ticks.load(std::memory_order_relaxed);
  return held ? static_cast<uint64_t>(static_cast<double>(ticks) * source.clock.ns_per_tick()) : 0;
}

Report Describe(const ReportSource& source, const SealRequest& request, const Evidence& evidence,
                std::string* place) {
  Report report;
  report.id = request.id;
  report.revision = request.revision;
  report.kind = request.kind;
  report.duration_ns = request.end_ns - request.begin_ns - request.held_ns;
  report.begin_ns = request.begin_ns;
  report.end_ns = request.end_ns;
  report.held_ns = request.held_ns;
  report.background = request.background;
  report.anr_limit_ns = request.anr_limit_ns;
  report.sigquits = source.sigquits;
  report.ongoing = request.ongoing;
  report.what = request.what;
  report.process = source.process.name;
  report.pid = source.process.pid;
  report.tid = request.tid;
  const uint64_t begin_ticks = source.clock.FromMonotonicNs(request.begin_ns);
  const uint64_t end_ticks = source.clock.FromMonotonicNs(request.end_ns);
  const ThreadLives lives(evidence.window, evidence.thread_names);
  report.thread = lives.NameAt(request.tid, end_ticks);
  const Blame blame =
      FindBlame(evidence.window, request.tid, begin_ticks, end_ticks, evidence.samples,
                evidence.frames, evidence.names, source.clock.ns_per_tick(), request.what);
  report.methods = blame.methods;
  report.methods_left_out = blame.methods_left_out;
  report.render_work = blame.render_work;
  report.top_frames = blame.frames;
  // The app knows what it found; the path is that of the calls which happened to be there.
  report.fingerprint = request.kind == ReportKind::kCustom ? FingerprintOf({"custom", request.what})
                                                           : blame.fingerprint;
  const VerdictWindow window{&evidence.window, source.kernel.get(), source.clock,
                             &lives,           &evidence.frames,    &evidence.names};
  const Verdict verdict = WindowVerdict(window, request);
  report.verdict = DescribeVerdict(window, request, verdict, blame.place);
  *place = blame.place;
  report.sched_switches = static_cast<uint32_t>(verdict.switches);
  report.window_from_ns = source.clock.ToBoottimeNs(evidence.window.from_ticks);
  report.window_to_ns = source.clock.ToBoottimeNs(evidence.window.to_ticks);
  report.window_to_realtime_ns =
      source.clock_reading.realtime_ns + (report.window_to_ns - source.clock_reading.boottime_ns);
  report.losses.overwritten_chunks = evidence.window.overwritten_chunks;
  report.losses.torn_chunks = evidence.window.torn_chunks;
  report.losses.dropped_events = evidence.window.dropped_events;
  report.losses.corrupt_chunks = evidence.window.corrupt_chunks;
  report.losses.lost_samples = request.lost_samples;
  report.losses.lost_kernel_events = source.kernel == nullptr ? 0 : source.kernel->lost_events;
  report.losses.suppressed_incidents = source.suppressed_incidents;
  for (const StackSample& sample : evidence.samples)
    report.losses.truncated_stacks += sample.truncated ? 1 : 0;
  report.self_cpu_ns = source.self_cpu_ns;
  report.start_us = source.start_us;
  report.ring_bytes = source.ring->header().file_bytes;
  report.sampler = request.sampler;
  report.loop = request.loop;
  report.sample_count = static_cast<uint32_t>(evidence.samples.size());
  report.app_name = source.app_name;
  report.app_version = source.app_version;
  report.os = OsName();
  report.sdk_version = JANKBOX_SDK_VERSION;
  report.frame_dropped = static_cast<uint32_t>(request.dropped_frames);
  report.frame_interval_ns = request.frame_interval_ns;
  report.clock = TickSourceName(static_cast<TickSource>(source.ring->header().tick_source));
  report.ring_in_memory_only = source.ring_in_memory_only;
  report.notes = request.notes;
  TellAnrThreads(request, evidence.window, evidence.frames, begin_ticks, &report);
  if (source.kernel != nullptr) report.notes.push_back(source.kernel->Note());
  for (std::string& note :
       LongestWaits(evidence.window, lives, request.tid, begin_ticks, end_ticks, source.clock)) {
    report.notes.push_back(std::move(note));
  }
  report.notes.insert(report.notes.end(), source.notes.begin(), source.notes.end());
  report.recorded_ns = source.recorded_ns;
  report.uptime_ns = source.uptime_ns;
  report.cpu_budget_permille = source.cpu_budget_permille;
  report.modes = ModesOf(source, evidence.window);
  report.clock_error_ns = ClockErrorNs(source, report.modes);
  report.atrace = source.atrace;
  if (request.startup) report.startup = ToReport(*request.startup);
  report.input_wait_ns = request.input_wait_ns;
  SetIdleCallback(evidence.window, request.tid, begin_ticks, end_ticks, source.clock, &report);
  report.history = HistoryBefore(evidence.window, request.tid, begin_ticks, source.clock,
                                 source.history_messages);
  for (const RefusalCount& refusal : source.refusals) {
    report.refusals.push_back({RefusalReasonName(refusal.reason), refusal.count,
                               source.clock.MonotonicToBoottimeNs(refusal.last_ns)});
  }
  DescribeFrames(source, request, &report);
  return report;
}

const char* KindText(ReportKind kind) {
  switch (kind) {
    case ReportKind::kSlowMessage:
      return "slow_message";
    case ReportKind::kSlowMethod:
      return "slow_method";
    case ReportKind::kJank:
      return "jank";
    case ReportKind::kStartup:
      return "startup";
    case ReportKind::kAnr:
      return "anr";
    case ReportKind::kLag:
      return "lag";
    case ReportKind::kRecovered:
      return "recovered";
    case ReportKind::kCustom:
      return "custom";
    case ReportKind::kInputLatency:
      return "input_latency";
    case ReportKind::kManual:
    case ReportKind::kUnspecified:
      break;
  }
  return "manual";
}

SnapshotInput TraceInput(const ReportSource& source, const SealRequest& request,
                         const Evidence& evidence, const Report& report) {
  SnapshotInput input;
  input.window = &evidence.window;
  input.names = &evidence.names;
  input.frames = &evidence.frames;
  input.clock = source.clock;
  input.clock_reading = source.clock_reading;
  input.process = source.process;
  input.thread_names = evidence.thread_names;
  input.kernel = source.kernel.get();
  for (const ReportMode& mode : report.modes) {
    input.recording.push_back({mode.mode, mode.reason, mode.from_ns, mode.to_ns});
  }
  input.clock_error_ns = report.clock_error_ns;
  input.trigger.kind = KindText(request.kind);
  input.trigger.title = input.trigger.kind;
  if (!request.what.empty()) input.trigger.title += ": " + request.what;
  input.trigger.report_id = request.id;
  input.trigger.tid = request.tid;
  input.trigger.from_ns = source.clock.MonotonicToBoottimeNs(request.begin_ns);
  input.trigger.to_ns = source.clock.MonotonicToBoottimeNs(request.end_ns);
  return input;
}

}  // namespace

Result<Report> SealReport(const ReportSource& source, const SealRequest& request, Spool* spool,
                          const AdmitReport& admit) {
  const Evidence evidence = Gather(source, request);
  std::string place;
  Report report = Describe(source, request, evidence, &place);
  CompareWithHealthy(source, request, evidence, &report);
  if (admit != nullptr && !admit(place, &report)) {
    return Status(StatusCode::kUnavailable, "a listener or a limit suppressed the report");
  }
  Result<SpoolWriter> file = spool->NewReport(request.id, kExpectedReportBytes);
  if (!file.ok()) return file.status();
  const auto write = [&](std::string_view piece) { return file->Write(piece); };
  Result<SnapshotStats> stats = WriteSnapshot(TraceInput(source, request, evidence, report), write);
  if (!stats.ok()) return stats.status();
  report.losses.unmatched_ends = stats->unmatched_ends;
  report.losses.open_slices = stats->open_slices;
  report.losses.repaired_slices = stats->repaired_slices;
  report.losses.unknown_markers = stats->unknown_markers;
  report.losses.unnamed_methods = stats->unnamed_methods;
  report.losses.spool_dropped_reports = spool->given_up_here();
  Status status = write(SkippableFrame(EncodeReport(report)));
  if (status.ok()) status = file->Seal();
  if (!status.ok()) return status;
  return report;
}

}  // namespace jankbox
