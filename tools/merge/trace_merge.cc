#include "tools/merge/trace_merge.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/file.h"
#include "base/utf8.h"
#include "symbolize/packets/packet_stream.h"
#include "tools/merge/app_rewrite.h"
#include "tools/merge/capture_scan.h"
#include "tools/merge/ftrace_bundle.h"

namespace jankbox::tools {
namespace {

using traceproto::CapturedEvent;
using traceproto::TracePacket;

// Two boots, or two time namespaces, differ by more; steps of the wall clock seldom do.
constexpr uint64_t kSameBootNs = 1'000'000'000;
constexpr uint64_t kRealtimeErrorNs = 10'000'000;
constexpr uint64_t kMaxSlew = 2000;  // 1 / 500 ppm (adjtimex(2), MAXFREQ)

std::string Seconds(double ns) {
  char text[64];
  snprintf(text, sizeof(text), "%.3f", ns / 1e9);
  return text;
}
std::string Seconds(uint64_t ns) { return Seconds(static_cast<double>(ns)); }

uint64_t Distance(uint64_t a, uint64_t b) { return a < b ? b - a : a - b; }

class Merger {
 public:
  Merger(const MergeInput& input, TraceOutput* output, MergeSummary* summary)
      : input_(input), output_(output), summary_(summary) {}

  Status Merge() {
    for (Status (Merger::*step)() :
         {&Merger::ReadApp, &Merger::Scan, &Merger::Align, &Merger::CheckOverlap, &Merger::WriteApp,
          &Merger::WriteCapture}) {
      Status status = (this->*step)();
      if (!status.ok()) return status;
    }
    summary_->packets = output_->packets();
    return Status::Ok();
  }

 private:
  Status Named(const std::string& file, const Status& status) const {
    return status.ok() ? status : Status(status.code(), file + ": " + status.message());
  }
  Status OfCapture(const Status& status) const { return Named(input_.capture_path, status); }
  Status BadCapture(const std::string& why) const {
    return OfCapture(Status(StatusCode::kInvalidArgument, why));
  }

  Status ReadApp() {
    Result<AppTrace> app = ReadAppTrace(input_.report_file);
    if (!app.ok()) return Named(input_.report_name, app.status());
    app_ = std::move(app).value();
    summary_->app_packets = app_.packets;
    summary_->app_from_ns = app_.first_ns;
    summary_->app_to_ns = app_.last_ns;
    return Status::Ok();
  }

  Status Scan() {
    const Result<CaptureKind> kind = DetectCapture(input_.capture_path);
    if (!kind.ok()) return kind.status();
    summary_->kind = kind.value();
    CaptureReading reading;
    reading.progress = Progress("reading");
    Result<CaptureScan> scan = ScanCapture(input_.capture_path, kind.value(), app_, &reading);
    if (!scan.ok()) return OfCapture(scan.status());
    scan_ = std::move(scan).value();
    clock_ = input_.clock.empty() ? reading.clock : input_.clock;
    resolution_ns_ = reading.resolution_ns;
    summary_->events = scan_.facts.kinds;
    summary_->left_out = reading.left_out;
    summary_->lost_events = reading.lost_events;
    summary_->odd_lines = reading.odd_lines;
    summary_->cut_off = reading.cut_off;
    summary_->capture_packets = scan_.packets;
    summary_->has_app_threads = scan_.facts.has_app_threads;
    summary_->contradictory_switches = scan_.contradictory_switches;
    if (scan_.facts.last_stamp == 0) return BadCapture("has no event that can be merged");
    if (reading.counts) {
      return BadCapture(
          "its timestamps are counts, not seconds (trace_clock x86-tsc or counter): "
          "record with trace_clock mono or boot");
    }
    return Status::Ok();
  }

  Status Align() {
    fit_ = FitClock({.app = &app_,
                     .facts = &scan_.facts,
                     .clock = clock_,
                     .resolution_ns = resolution_ns_,
                     .app_error_ns = input_.report_clock_error_ns});
    if (scan_.kind == CaptureKind::kPerfetto && fit_.method == FitMethod::kDirect) {
      Status status = CheckWallClocks();
      if (!status.ok()) return status;
    }
    summary_->fit = fit_;
    return Status::Ok();
  }

  // Both sides say what the wall clock was: if BOOTTIME differs, it is not the same BOOTTIME.
  Status CheckWallClocks() {
    const KernelClocks& app = app_.clocks;
    const KernelClocks& capture = scan_.clocks;
    if (app.realtime_ns == 0 || capture.realtime_ns == 0 || capture.boottime_ns == 0) {
      return Status::Ok();
    }
    const uint64_t app_epoch = app.realtime_ns - app.boottime_ns;
    const uint64_t capture_epoch = capture.realtime_ns - capture.boottime_ns;
    const uint64_t apart = Distance(app_epoch, capture_epoch);
    if (apart < kSameBootNs) return Status::Ok();
    if (!input_.join_anyway) {
      return BadCapture("its BOOTTIME is " + Seconds(apart) +
                        " s from the report's: another boot, or a time namespace (unshare -T, a "
                        "container). --join-anyway joins them by the wall clock");
    }
    fit_.method = FitMethod::kRealtime;
    fit_.boottime_ns = fit_.stamp + capture_epoch - app_epoch;
    fit_.bound_ns = kRealtimeErrorNs + Distance(app.realtime_ns, capture.realtime_ns) / kMaxSlew;
    fit_.remark = "BOOTTIME differs by " + Seconds(apart) + " s";
    return Status::Ok();
  }

  Status CheckOverlap() {
    summary_->capture_from_ns = fit_.ToBoottime(scan_.facts.first_stamp);
    summary_->capture_to_ns = fit_.ToBoottime(scan_.facts.last_stamp);
    const uint64_t from = std::max(summary_->capture_from_ns, app_.first_ns);
    const uint64_t to = std::min(summary_->capture_to_ns, app_.last_ns);
    if (from <= to) {
      summary_->overlap_ns = to - from;
      return Status::Ok();
    }
    if (input_.join_anyway) return Status::Ok();
    const uint64_t gap = from - to;
    return BadCapture("no time in common with the report: that covers " + Seconds(app_.first_ns) +
                      " to " + Seconds(app_.last_ns) + " s of BOOTTIME, the capture " +
                      Seconds(summary_->capture_from_ns) + " to " +
                      Seconds(summary_->capture_to_ns) + " s (clock " + fit_.clock + "), " +
                      Seconds(gap) +
                      " s away. Another moment, another boot, or a time namespace of the program; "
                      "--join-anyway joins "
                      "them all the same");
  }

  std::function<void(double)> Progress(const char* what) const {
    if (!input_.progress) return {};
    return [this, what](double done) { input_.progress(what, done); };
  }

  // A Perfetto trace keeps its times, and the app's move; else the capture's events do.
  bool MovesApp() const { return scan_.kind == CaptureKind::kPerfetto; }

  Status WriteApp() {
    OtherTrace other{.ids = scan_.ids,
                     .kinds = scan_.facts.kinds,
                     .from_ns = summary_->capture_from_ns,
                     .to_ns = summary_->capture_to_ns,
                     .primary_clock = scan_.primary_clock,
                     .knows_processes = MovesApp()};
    for (const auto& [tid, task] : scan_.facts.tasks) {
      if (task.tgid != 0) other.threads.insert(tid);
    }
    if (MovesApp()) summary_->app_shift_ns = static_cast<int64_t>(fit_.stamp - fit_.boottime_ns);
    rewriter_ = std::make_unique<AppRewriter>(app_, other, summary_->app_shift_ns);
    join_ = JoinSlices(app_, scan_.facts, fit_);
    summary_->duplicates = join_.duplicates;
    summary_->unmatched_ends = join_.unmatched_ends;
    summary_->moved_slices = join_.moved_slices;
    summary_->longest_move_ns = join_.longest_move_ns;
    ByteSource source(input_.report_file);
    Status status = ForEachPacket(&source, [&](TracePacket* packet) {
      return rewriter_->Rewrite(packet) ? output_->Write(*packet) : Status::Ok();
    });
    summary_->duplicate_kernel_events = rewriter_->dropped_kernel_events();
    if (!status.ok()) return Named(input_.report_name, status);
    return WriteNote();
  }

  // Writes what was joined, and how well the clocks fit, as an instant on a separate track.
  Status WriteNote() {
    const uint32_t sequence = rewriter_->NewSequence();
    const uint64_t uuid = rewriter_->NewTrack();
    TracePacket packet;
    packet.set_trusted_packet_sequence_id(sequence);
    packet.set_sequence_flags(TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);
    packet.set_first_packet_on_sequence(true);
    auto* track = packet.mutable_track_descriptor();
    track->set_uuid(uuid);
    track->set_parent_uuid(rewriter_->MappedTrack(app_.process_uuid));
    track->set_name("jankbox merge");
    Status status = output_->Write(packet);
    if (!status.ok()) return status;

    status = WriteKernel(sequence);
    if (!status.ok()) return status;
    packet.Clear();
    packet.set_trusted_packet_sequence_id(sequence);
    packet.set_sequence_flags(TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
    packet.set_timestamp(app_.first_ns + static_cast<uint64_t>(summary_->app_shift_ns));
    auto* event = packet.mutable_track_event();
    event->set_type(traceproto::TrackEvent::TYPE_INSTANT);
    event->set_track_uuid(uuid);
    event->set_name(std::string("merged with ") + CaptureKindName(scan_.kind));
    const auto add = [&](const char* name) {
      auto* annotation = event->add_debug_annotations();
      annotation->set_name(name);
      return annotation;
    };
    add("capture")->set_string_value(ToValidUtf8(BaseName(input_.capture_path)));
    add("trace_clock")->set_string_value(ToValidUtf8(fit_.clock));
    add("aligned_by")->set_string_value(FitMethodName(fit_.method));
    add("clock_error_ns")->set_int_value(static_cast<int64_t>(fit_.bound_ns));
    add("switches_repaired")->set_int_value(static_cast<int64_t>(summary_->contradictory_switches));
    add("duplicates_dropped")->set_int_value(static_cast<int64_t>(join_.duplicates));
    add("slices_moved")->set_int_value(static_cast<int64_t>(join_.moved_slices));
    return output_->Write(packet);
  }

  // The kernel's version, which says what the states of threads mean. A Perfetto trace has its own.
  Status WriteKernel(uint32_t sequence) {
    if (MovesApp() || app_.says_kernel || input_.kernel_release.empty()) return Status::Ok();
    TracePacket packet;
    packet.set_trusted_packet_sequence_id(sequence);
    packet.set_sequence_flags(TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
    auto* name = packet.mutable_system_info()->mutable_utsname();
    name->set_sysname("Linux");
    name->set_release(input_.kernel_release);
    return output_->Write(packet);
  }

  Status WriteCapture() {
    Status status = WriteMissingSwitches();
    if (status.ok()) status = MovesApp() ? WritePackets() : WriteEvents();
    return OfCapture(status);
  }

  // Before the capture's own: importers keep the order of equal stamps.
  Status WriteMissingSwitches() {
    if (scan_.missing_switches.empty()) return Status::Ok();
    BundleWriter bundles(rewriter_->NewSequence(),
                         [&](const TracePacket& packet) { return output_->Write(packet); });
    for (CapturedEvent& event : scan_.missing_switches) {
      const uint64_t stamp = event.event().timestamp();
      event.mutable_event()->set_timestamp(MovesApp() ? stamp : fit_.ToBoottime(stamp));
      Status status = bundles.Write(event);
      if (!status.ok()) return status;
    }
    return bundles.Flush();
  }

  Status WriteEvents() {
    Status status = WriteTasks();
    if (!status.ok()) return status;
    BundleWriter bundles(rewriter_->NewSequence(),
                         [&](const TracePacket& packet) { return output_->Write(packet); });
    CaptureReading reading;
    reading.progress = Progress("writing");
    uint64_t ordinal = 0;
    size_t added = 0;
    const auto add_until = [&](uint64_t ns) {
      Status written;
      while (written.ok() && added < join_.added.size() && join_.added[added].boottime_ns <= ns) {
        written = bundles.Write(AddedEvent(join_.added[added++]));
      }
      return written;
    };
    status = ReadCapture(
        input_.capture_path, scan_.kind,
        [&](CapturedEvent* event) {
          if (join_.dropped.contains(ordinal++)) return Status::Ok();
          const uint64_t ns = fit_.ToBoottime(event->event().timestamp());
          event->mutable_event()->set_timestamp(ns);
          Status written = add_until(ns);
          return written.ok() ? bundles.Write(*event) : written;
        },
        &reading);
    if (status.ok()) status = add_until(UINT64_MAX);
    return status.ok() ? bundles.Flush() : status;
  }

  CapturedEvent AddedEvent(const JoinedMark& mark) const {
    CapturedEvent event;
    event.set_cpu(mark.cpu);
    event.mutable_event()->set_timestamp(mark.boottime_ns +
                                         static_cast<uint64_t>(summary_->app_shift_ns));
    event.mutable_event()->set_pid(static_cast<uint32_t>(mark.tid));
    event.mutable_event()->mutable_print()->set_buf(mark.text);
    return event;
  }

  // Which thread belongs to which process, as far as the capture says.
  Status WriteTasks() {
    TracePacket packet;
    packet.set_trusted_packet_sequence_id(rewriter_->NewSequence());
    packet.set_sequence_flags(TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);
    packet.set_first_packet_on_sequence(true);
    packet.set_timestamp(std::min(app_.first_ns, summary_->capture_from_ns));
    for (const auto& [tid, task] : scan_.facts.tasks) {
      if (task.tgid == 0 || app_.threads.contains(tid)) continue;
      auto* thread = packet.mutable_process_tree()->add_threads();
      thread->set_tid(tid);
      thread->set_tgid(task.tgid);
      if (!task.comm.empty()) thread->set_name(task.comm);
    }
    return packet.has_process_tree() ? output_->Write(packet) : Status::Ok();
  }

  Status WritePackets() {
    Result<ByteSource> source = ByteSource::OpenFile(input_.capture_path);
    if (!source.ok()) return source.status();
    const auto progress = Progress("writing");
    uint64_t ordinal = 0;
    Status status = ForEachPacket(&source.value(), [&](TracePacket* packet) {
      if (progress) {
        progress(static_cast<double>(source->bytes_taken()) /
                 static_cast<double>(source->bytes_in_all() + 1));
      }
      if (packet->has_ftrace_events()) DropFrom(packet->mutable_ftrace_events(), &ordinal);
      if (packet->has_service_event()) {
        // Viewers would sort only between two of these, and the report's packets come from
        // elsewhere.
        packet->mutable_service_event()->clear_read_buffers_completed();
        packet->mutable_service_event()->clear_all_data_sources_flushed();
      }
      return output_->Write(*packet);
    });
    if (!status.ok()) return status;
    BundleWriter bundles(rewriter_->NewSequence(),
                         [&](const TracePacket& packet) { return output_->Write(packet); });
    for (const JoinedMark& mark : join_.added) {
      status = bundles.Write(AddedEvent(mark));
      if (!status.ok()) return status;
    }
    return bundles.Flush();
  }

  void DropFrom(traceproto::FtraceEventBundle* bundle, uint64_t* ordinal) const {
    int kept = 0;
    for (int i = 0; i < bundle->event_size(); ++i) {
      if (join_.dropped.contains((*ordinal)++)) continue;
      if (kept != i) bundle->mutable_event()->SwapElements(kept, i);
      ++kept;
    }
    bundle->mutable_event()->DeleteSubrange(kept, bundle->event_size() - kept);
  }

  const MergeInput& input_;
  TraceOutput* output_;
  MergeSummary* summary_;
  AppTrace app_;
  CaptureScan scan_;
  std::string clock_;
  uint64_t resolution_ns_ = 1;
  ClockFit fit_;
  SliceJoin join_;
  std::unique_ptr<AppRewriter> rewriter_;
};

}  // namespace

Status MergeTraces(const MergeInput& input, TraceOutput* output, MergeSummary* summary) {
  return Merger(input, output, summary).Merge();
}

}  // namespace jankbox::tools
