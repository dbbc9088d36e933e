#include "tools/merge/capture_scan.h"

#include <algorithm>

#include "symbolize/packets/packet_stream.h"
#include "tools/merge/ftrace_bundle.h"
#include "tools/merge/switch_repair.h"

namespace jankbox::tools {
namespace {

using traceproto::TracePacket;

void TakeRepairs(SwitchRepair* switches, CaptureScan* scan) {
  scan->contradictory_switches = switches->contradictions();
  scan->missing_switches = switches->TakeMissing();
}

class PacketScan {
 public:
  PacketScan(const AppTrace& app, CaptureScan* scan) : reader_(app), scan_(scan) {}

  void Take(const TracePacket& packet) {
    ++scan_->packets;
    CollectIds(packet, &scan_->ids);
    if (packet.has_clock_snapshot()) {
      const uint32_t primary = packet.clock_snapshot().primary_trace_clock();
      if (scan_->primary_clock == 0) scan_->primary_clock = primary;
      if (scan_->clocks.boottime_ns == 0) scan_->clocks = ReadClocks(packet.clock_snapshot());
    }
    if (packet.has_ftrace_events()) {
      for (const auto& event : EventsOf(packet.ftrace_events())) {
        reader_.Take(event);
        switches_.Take(event);
      }
    } else if (packet.has_timestamp() && (!packet.has_timestamp_clock_id() ||
                                          packet.timestamp_clock_id() == kBoottimeClock)) {
      // Of a sequence with another default clock these are deltas, far too small.
      if (packet.timestamp() > kSmallestStamp) Widen(packet.timestamp());
    }
  }

  void Finish() {
    scan_->facts = reader_.Finish();
    TakeRepairs(&switches_, scan_);
    if (scan_->facts.events > 0 || last_ == 0) return;
    scan_->facts.first_stamp = first_;
    scan_->facts.last_stamp = last_;
  }

 private:
  static constexpr uint64_t kSmallestStamp = 1'000'000'000;

  void Widen(uint64_t ns) {
    first_ = last_ == 0 ? ns : std::min(first_, ns);
    last_ = std::max(last_, ns);
  }

  CaptureFactsReader reader_;
  SwitchRepair switches_;
  CaptureScan* scan_;
  uint64_t first_ = 0, last_ = 0;
};

Result<CaptureScan> ScanPackets(const std::string& path, const AppTrace& app,
                                CaptureReading* reading) {
  Result<ByteSource> source = ByteSource::OpenFile(path);
  if (!source.ok()) return source.status();
  CaptureScan scan{.kind = CaptureKind::kPerfetto};
  PacketScan packets(app, &scan);
  Status status = ForEachPacket(&source.value(), [&](TracePacket* packet) {
    packets.Take(*packet);
    if (reading->progress) {
      reading->progress(static_cast<double>(source->bytes_taken()) /
                        static_cast<double>(source->bytes_in_all() + 1));
    }
    return Status::Ok();
  });
  if (!status.ok()) return status;
  packets.Finish();
  reading->clock = "boot";
  return scan;
}

}  // namespace

Status ReadCapture(const std::string& path, CaptureKind kind, const EventFunction& on_event,
                   CaptureReading* reading) {
  return kind == CaptureKind::kText ? ReadTextCapture(path, on_event, reading)
                                    : ReadTraceCmdCapture(path, on_event, reading);
}

Result<CaptureScan> ScanCapture(const std::string& path, CaptureKind kind, const AppTrace& app,
                                CaptureReading* reading) {
  if (kind == CaptureKind::kPerfetto) return ScanPackets(path, app, reading);
  CaptureScan scan{.kind = kind};
  CaptureFactsReader facts(app);
  SwitchRepair switches;
  Status status = ReadCapture(
      path, kind,
      [&](traceproto::CapturedEvent* event) {
        facts.Take(*event);
        switches.Take(*event);
        return Status::Ok();
      },
      reading);
  if (!status.ok()) return status;
  scan.facts = facts.Finish();
  TakeRepairs(&switches, &scan);
  return scan;
}

}  // namespace jankbox::tools
