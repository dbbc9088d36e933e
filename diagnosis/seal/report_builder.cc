#include "diagnosis/seal/report_builder.h"

#include <sys/utsname.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/text/private_text.h"
#include "diagnosis/blame/blame.h"
#include "diagnosis/blame/report_history.h"
#include "diagnosis/seal/anr_report.h"
#include "diagnosis/seal/earlier_revision.h"
#include "diagnosis/seal/end_report.h"
#include "diagnosis/seal/frame_report.h"
#include "diagnosis/seal/incident_coverage.h"
#include "diagnosis/seal/report_evidence.h"
#include "diagnosis/seal/report_identity.h"
#include "diagnosis/seal/trace_incident.h"
#include "diagnosis/verdict/cpu_causes.h"
#include "diagnosis/verdict/longest_waits.h"
#include "diagnosis/verdict/named_waits.h"
#include "diagnosis/verdict/wake_ups.h"
#include "diagnosis/verdict/window_verdict.h"
#include "report/earlier_fields.h"
#include "report/report_encoder.h"
#include "tracer/ring/record_modes.h"
#include "tracer/snapshot/snapshot.h"

namespace jankbox {
namespace {

constexpr uint64_t kExpectedReportBytes = 64 << 10;

std::string OsName() {
  struct utsname name {};
  if (uname(&name) != 0) return "";
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

// Compares the message of `request` with healthy ones; learns from the others in the window.
void CompareWithHealthy(const ReportSource& source, const SealRequest& request,
                        const ReportEvidence& evidence, Report* report) {
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
    report->extra.push_back(
        {evidence.names.NameOf(method.id), to_ns(method.extra_ticks), to_ns(method.usual_ticks)});
  }
}

ReportStartup ToReport(const StartupTimes& times) {
  const auto since_begin = [&](uint64_t ns) { return ns == 0 ? 0 : ns - times.begin_ns; };
  return {times.cold, times.cold ? since_begin(times.recorder_ns) : 0,
          since_begin(times.first_dispatch_ns), since_begin(times.first_frame_ns),
          since_begin(times.drawn_ns)};
}

std::vector<ReportRecording> RecordingOf(const ReportSource& source, const RingWindow& window) {
  std::vector<ReportRecording> modes;
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
uint64_t ClockErrorNs(const ReportSource& source, const std::vector<ReportRecording>& modes) {
  const std::string coarse = RecordModeName(RecordMode::kCoarse);
  const bool held = std::any_of(modes.begin(), modes.end(),
                                [&](const ReportRecording& mode) { return mode.mode == coarse; });
  const uint64_t ticks = source.ring->header().coarse_error_ticks.load(std::memory_order_relaxed);
  return held ? static_cast<uint64_t>(static_cast<double>(ticks) * source.clock.ns_per_tick()) : 0;
}

// The incident in ticks, as the ring has its time.
struct TickSpan {
  uint64_t begin = 0;
  uint64_t end = 0;
};

TickSpan TicksOf(const ReportSource& source, const SealRequest& request) {
  // Its own begin and end are to be inside to the tick.
  if (request.method) return {request.method->begin_ticks, request.method->end_ticks};
  return {source.clock.FromMonotonicNs(request.begin_ns),
          source.clock.FromMonotonicNs(request.end_ns)};
}

void DescribeIncident(const ReportSource& source, const SealRequest& request, Report* report) {
  report->id = request.id;
  report->revision = request.revision;
  report->kind = request.kind;
  if (request.begin_ns != 0) {
    report->begin_ns = source.clock.MonotonicToBoottimeNs(request.begin_ns);
  }
  report->duration_ns = request.end_ns - request.begin_ns - request.held_ns;
  report->held_ns = request.held_ns;
  report->background = request.background;
  report->anr_limit_ns = request.anr_limit_ns;
  report->ongoing = request.ongoing;
  report->what = request.what;
  report->tid = request.tid;
  report->sampler = request.sampler;
  report->loop = request.loop;
  report->frame_dropped = static_cast<uint32_t>(request.dropped_frames);
  report->frame_interval_ns = request.frame_interval_ns;
  if (request.startup) report->startup = ToReport(*request.startup);
  report->input_wait_ns = request.input_wait_ns;
  for (const RefusalCount& refusal : source.refusals) {
    report->refusals.push_back({RefusalReasonName(refusal.reason), refusal.count,
                                source.clock.MonotonicToBoottimeNs(refusal.last_ns)});
  }
}

void DescribeProcess(const ReportSource& source, Report* report) {
  report->process = source.process.name;
  report->pid = source.process.pid;
  report->app_name = source.app_name;
  report->app_version = source.app_version;
  report->os = OsName();
  report->sdk_version = JANKBOX_SDK_VERSION;
  report->texts_as_written = !TextsAreCleaned();
  report->sigquits = source.sigquits;
  report->self_cost = source.self_cost;
  const RingHeader& ring = source.ring->header();
  report->self_cost.ring_bytes =
      ring.chunks_offset +
      uint64_t{ring.chunks_ready.load(std::memory_order_relaxed)} * kChunkBytes;
  report->clock = TickSourceName(static_cast<TickSource>(ring.tick_source));
  report->ring_in_memory_only = source.ring_in_memory_only;
  report->atrace = source.atrace;
}

// Calls that were not recorded because their import could not be hooked, the most first.
void DescribeHookMisses(const std::vector<ModuleHooks>& modules, Report* report) {
  for (const ModuleHooks& module : modules) {
    for (size_t i = 0; i < kHookMissKinds; ++i) {
      const char* reason = HookMissText(static_cast<HookMiss>(i));
      const uint32_t slots = module.slots.misses[i];
      if (slots == 0 || reason[0] == '\0') continue;
      report->losses.hook_misses += slots;
      report->hook_misses.push_back(
          {module.path.substr(module.path.rfind('/') + 1), reason, slots});
    }
  }
  std::stable_sort(report->hook_misses.begin(), report->hook_misses.end(),
                   [](const auto& a, const auto& b) { return a.slots > b.slots; });
}

void DescribeLosses(const ReportSource& source, const SealRequest& request,
                    const ReportEvidence& evidence, Report* report) {
  const RingWindow& window = evidence.window;
  ReportLosses& losses = report->losses;
  losses.overwritten_chunks = window.overwritten_chunks;
  losses.torn_chunks = window.torn_chunks;
  losses.dropped_events = window.dropped_events;
  losses.corrupt_chunks = window.corrupt_chunks;
  for (const WindowThread& thread : window.threads) {
    losses.missing_words += thread.words_missing + thread.marker_words_missing;
  }
  losses.lost_samples = request.lost_samples;
  losses.lost_kernel_events = source.kernel == nullptr ? 0 : source.kernel->lost_events;
  losses.suppressed_incidents = source.suppressed_incidents;
  losses.truncated_stacks = static_cast<uint64_t>(
      std::count_if(evidence.samples.begin(), evidence.samples.end(),
                    [](const StackSample& sample) { return sample.truncated; }));
  DescribeHookMisses(source.hooks, report);
}

// Returns when no calls of the incident's thread are recorded.
std::vector<SnapshotGap> DescribeWindow(const ReportSource& source, const SealRequest& request,
                                        const ReportEvidence& evidence, Report* report) {
  const RingWindow& window = evidence.window;
  report->window.from_ns = source.clock.ToBoottimeNs(window.from_ticks);
  report->window.to_ns = source.clock.ToBoottimeNs(window.to_ticks);
  report->window.to_realtime_ns =
      source.clock_reading.realtime_ns + (report->window.to_ns - source.clock_reading.boottime_ns);
  report->recording = RecordingOf(source, window);
  report->clock_error_ns = ClockErrorNs(source, report->recording);
  report->sample_count = static_cast<uint32_t>(evidence.samples.size());
  std::vector<SnapshotGap> gaps;
  if (request.tid != 0) {
    IncidentCoverage coverage = CoverageOf(source, request, window);
    report->covered_ns = std::min(coverage.covered_ns, report->duration_ns);
    gaps = std::move(coverage.gaps);
  }
  DescribeLosses(source, request, evidence, report);
  return gaps;
}

struct Cause {
  std::string place;  // the function that carries the blame
  std::vector<SnapshotStretch> stretches;
  std::vector<SnapshotWakeUp> wake_ups;
};

// Sets what the blame and the verdict say.
Cause DescribeCause(const ReportSource& source, const SealRequest& request,
                    const ReportEvidence& evidence, const ThreadLives& lives, Report* report) {
  const TickSpan span = TicksOf(source, request);
  Blame blame = FindBlame(evidence.window, request.tid, span.begin, span.end, evidence.samples,
                          evidence.frames, evidence.names, source.clock.ns_per_tick());
  report->methods = std::move(blame.methods);
  report->methods_left_out = blame.methods_left_out;
  report->render_work = std::move(blame.render_work);
  const VerdictTimeline readings =
      NameWaits(request.readings, evidence.samples, evidence.frames, source.clock);
  const VerdictWindow window{&evidence.window, source.kernel.get(), source.clock, &lives,
                             &evidence.frames, &evidence.names,     &readings};
  const Verdict verdict = WindowVerdict(window, request);
  report->verdict = DescribeVerdict(window, request, verdict, blame.place);
  std::string note = CpuNote(request.cpu, verdict);
  if (!note.empty()) report->notes.push_back(std::move(note));
  const std::vector<WakeUp> wake_ups = FindWakeUps(window, request);
  for (std::string& line : WakeUpNotes(wake_ups, request.end_ns - request.begin_ns)) {
    report->notes.push_back(std::move(line));
  }
  report->sched_switches = static_cast<uint32_t>(verdict.switches);
  const bool is_end = request.kind == ReportKind::kExit;
  SetIdentity(blame, is_end ? request.end.reason.c_str() : KeyCause(verdict), report);
  report->top_frames = std::move(blame.frames);
  return {blame.place, TraceStretches(verdict, source.clock),
          TraceWakeUps(wake_ups, request.tid, report->thread, source.clock)};
}

// V8 enters every JavaScript function through these.
bool RunsJavaScript(const FrameTable& frames) {
  return std::any_of(frames.begin(), frames.end(), [](const auto& entry) {
    return entry.second.function.starts_with("Builtins_JSEntry");
  });
}

void DescribeNotes(const ReportSource& source, const SealRequest& request,
                   const ReportEvidence& evidence, const ThreadLives& lives, Report* report) {
  const TickSpan span = TicksOf(source, request);
  report->notes.insert(report->notes.begin(), request.notes.begin(), request.notes.end());
  TellAnrThreads(request, evidence.window, evidence.frames, span.begin, report);
  if (source.kernel != nullptr) report->notes.push_back(source.kernel->Note());
  for (std::string& note :
       LongestWaits(evidence.window, lives, request.tid, span.begin, span.end, source.clock)) {
    report->notes.push_back(std::move(note));
  }
  report->notes.insert(report->notes.end(), source.notes.begin(), source.notes.end());
  if (!source.js_names && RunsJavaScript(evidence.frames)) {
    report->notes.push_back(
        "JavaScript functions have no names here. jankbox run --js names them.");
  }
}

// A report, and what its trace shows of it besides.
struct Description {
  Report report;
  ReportedIncident incident;
  std::vector<SnapshotStretch> stretches;
  std::vector<SnapshotGap> gaps;
  std::vector<SnapshotWakeUp> wake_ups;
};

Description Describe(const ReportSource& source, const SealRequest& request,
                     const ReportEvidence& evidence) {
  Description description;
  Report& report = description.report;
  const TickSpan span = TicksOf(source, request);
  const ThreadLives lives(evidence.window, evidence.thread_names);
  DescribeIncident(source, request, &report);
  if (request.method) report.what = evidence.names.NameOf(request.method->id);
  DescribeProcess(source, &report);
  description.gaps = DescribeWindow(source, request, evidence, &report);
  report.thread = lives.NameAt(request.tid, span.end);
  Cause cause = DescribeCause(source, request, evidence, lives, &report);
  description.incident = {std::move(cause.place), request.begin_ns, request.end_ns};
  description.stretches = std::move(cause.stretches);
  description.wake_ups = std::move(cause.wake_ups);
  DescribeEnd(request, &report);
  DescribeNotes(source, request, evidence, lives, &report);
  SetIdleCallback(evidence.window, request.tid, span.begin, span.end, source.clock, &report);
  report.history = HistoryBefore(evidence.window, request.tid, span.begin, source.clock,
                                 source.history_messages);
  DescribeFrames(source, request, &report);
  CompareWithHealthy(source, request, evidence, &report);
  return description;
}

SnapshotInput TraceInput(const ReportSource& source, const SealRequest& request,
                         const ReportEvidence& evidence, const Description& description) {
  const Report& report = description.report;
  SnapshotInput input;
  input.window = &evidence.window;
  input.names = &evidence.names;
  input.frames = &evidence.frames;
  input.clock = source.clock;
  input.clock_reading = source.clock_reading;
  input.process = source.process;
  input.thread_names = evidence.thread_names;
  input.kernel = source.kernel.get();
  for (const ReportRecording& part : report.recording) {
    input.recording.push_back({part.mode, part.reason, part.from_ns, part.to_ns});
  }
  input.clock_error_ns = report.clock_error_ns;
  input.incident = TraceIncident(source, request, report, description.incident.place);
  input.incident.stretches = description.stretches;
  input.incident.gaps = description.gaps;
  input.incident.wake_ups = description.wake_ups;
  return input;
}

}  // namespace

Result<Report> SealReport(const ReportSource& source, const SealRequest& request, Spool* spool,
                          const AdmitReport& admit) {
  const ReportEvidence evidence = GatherEvidence(source, request);
  Description description = Describe(source, request, evidence);
  Report& report = description.report;
  if (admit != nullptr && !admit(description.incident, &report)) {
    return Status(StatusCode::kUnavailable, "a listener or a limit suppressed the report");
  }
  TakeExitInfo(&report);
  Result<SpoolWriter> file = spool->NewReport(request.id, kExpectedReportBytes);
  if (!file.ok()) return file.status();
  const auto write = [&](std::string_view piece) { return file->Write(piece); };
  Result<SnapshotStats> stats =
      WriteSnapshot(TraceInput(source, request, evidence, description), write);
  if (!stats.ok()) return stats.status();
  report.losses.unmatched_ends = stats->unmatched_ends;
  report.losses.open_slices = stats->open_slices;
  report.losses.repaired_slices = stats->repaired_slices;
  report.losses.unknown_markers = stats->unknown_markers;
  report.losses.unnamed_methods = stats->unnamed_methods;
  report.losses.spool_dropped_reports = spool->given_up_here();
  std::string message = EncodeReport(report);
  if (request.revision > 1) {
    message = WithEarlierFields(EncodedReportOf(spool->directory(), request.id), message);
  }
  Status status = write(SkippableFrame(message));
  if (status.ok()) status = file->Seal();
  if (!status.ok()) return status;
  return std::move(report);
}

}  // namespace jankbox
