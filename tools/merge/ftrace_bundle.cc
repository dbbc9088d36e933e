#include "tools/merge/ftrace_bundle.h"

namespace jankbox::tools {
namespace {

using traceproto::FtraceEventBundle;
using traceproto::TracePacket;

constexpr int kEventsPerBundle = 512;

}  // namespace

uint64_t BoottimeOf(const FtraceEventBundle& bundle, uint64_t timestamp) {
  if (bundle.ftrace_clock() == traceproto::FTRACE_CLOCK_UNSPECIFIED) return timestamp;
  return timestamp - static_cast<uint64_t>(bundle.ftrace_timestamp()) +
         static_cast<uint64_t>(bundle.boot_timestamp());
}

std::vector<traceproto::CapturedEvent> EventsOf(const FtraceEventBundle& bundle) {
  std::vector<traceproto::CapturedEvent> events(static_cast<size_t>(bundle.event_size()));
  for (int i = 0; i < bundle.event_size(); ++i) {
    traceproto::CapturedEvent& event = events[static_cast<size_t>(i)];
    event.set_cpu(bundle.cpu());
    *event.mutable_event() = bundle.event(i);
    event.mutable_event()->set_timestamp(BoottimeOf(bundle, bundle.event(i).timestamp()));
  }
  return events;
}

Status BundleWriter::Write(const traceproto::CapturedEvent& event) {
  TracePacket& packet = packets_[event.cpu()];
  *packet.mutable_ftrace_events()->add_event() = event.event();
  return packet.ftrace_events().event_size() < kEventsPerBundle ? Status::Ok()
                                                                : Hand(&packet, event.cpu());
}

Status BundleWriter::Flush() {
  for (auto& [cpu, packet] : packets_) {
    if (packet.ftrace_events().event_size() == 0) continue;
    Status status = Hand(&packet, cpu);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

Status BundleWriter::Hand(TracePacket* packet, uint32_t cpu) {
  packet->mutable_ftrace_events()->set_cpu(cpu);
  packet->set_trusted_packet_sequence_id(sequence_id_);
  packet->set_sequence_flags(first_ ? TracePacket::SEQ_INCREMENTAL_STATE_CLEARED
                                    : TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
  if (first_) packet->set_first_packet_on_sequence(true);
  first_ = false;
  Status status = sink_(*packet);
  packet->Clear();
  return status;
}

}  // namespace jankbox::tools
