#include "tools/merge/trace_output.h"

#include "base/file.h"
#include "report/report_encoder.h"

namespace jankbox::tools {
namespace {

constexpr size_t kFlushBytes = 256 << 10;
constexpr char kPacketTag = 0x0a;  // Trace.packet, length-delimited

}  // namespace

TraceOutput::TraceOutput(int fd, bool compressed)
    : sink_([fd](std::string_view piece) { return WriteFully(fd, piece); }) {
  if (compressed) zstd_ = std::make_unique<ZstdStream>(sink_);
}

Status TraceOutput::Write(const traceproto::TracePacket& packet) {
  ++packets_;
  pending_ += kPacketTag;
  uint64_t size = packet.ByteSizeLong();
  for (; size >= 0x80; size >>= 7) pending_ += static_cast<char>(size | 0x80);
  pending_ += static_cast<char>(size);
  packet.AppendToString(&pending_);
  return pending_.size() < kFlushBytes ? Status::Ok() : Drain();
}

Status TraceOutput::Drain() {
  Status status = zstd_ != nullptr ? zstd_->Write(pending_) : sink_(pending_);
  pending_.clear();
  return status;
}

Status TraceOutput::Finish(const std::string& report) {
  Status status = Drain();
  if (!status.ok() || zstd_ == nullptr) return status;
  status = zstd_->Finish();
  return status.ok() ? sink_(SkippableFrame(report)) : status;
}

}  // namespace jankbox::tools
