// Text of /sys/kernel/tracing/trace or trace_pipe.
#include "symbolize/packets/byte_source.h"
#include "tools/merge/system_capture.h"
#include "tools/merge/trace_line.h"

namespace jankbox::tools {
namespace {

using traceproto::CapturedEvent;

constexpr size_t kMaxLineBytes = 64 << 10;  // the kernel's own lines: 8 KiB at most
constexpr uint64_t kNsPerMicrosecond = 1000;

class TextReader {
 public:
  TextReader(const EventFunction& on_event, CaptureReading* reading)
      : on_event_(on_event), reading_(reading) {
    reading_->resolution_ns = kNsPerMicrosecond;
  }

  Status Read(ByteSource* source) {
    std::string pending;
    while (true) {
      Result<std::string_view> piece = source->Next();
      if (!piece.ok()) return piece.status();
      if (piece.value().empty()) break;
      pending.append(piece.value());
      size_t at = 0;
      for (size_t end; (end = pending.find('\n', at)) != std::string::npos; at = end + 1) {
        Status status = TakeLine(std::string_view(pending).substr(at, end - at));
        if (!status.ok()) return status;
      }
      pending.erase(0, at);
      if (pending.size() > kMaxLineBytes) {
        return Status(StatusCode::kCorrupt, "a line of more than 64 KiB");
      }
      if (reading_->progress) {
        reading_->progress(static_cast<double>(source->bytes_taken()) /
                           static_cast<double>(source->bytes_in_all() + 1));
      }
    }
    // A line without its end may have lost digits: it is not used.
    reading_->cut_off = !pending.empty();
    return HandOut();
  }

 private:
  Status TakeLine(std::string_view line) {
    bool counts = false;
    switch (ParseTraceLine(line, &next_, &counts)) {
      case LineKind::kComment:
        return Status::Ok();
      case LineKind::kLostEvents:
        reading_->lost_events += LostEvents(line);
        return Status::Ok();
      case LineKind::kContinuation:
        Continue(line);
        return Status::Ok();
      case LineKind::kEvent:
        break;
    }
    reading_->counts |= counts;
    Status status = HandOut();
    has_held_ = true;
    held_.Swap(&next_);
    return status;
  }

  // The rest of a marker that has line breaks in it.
  void Continue(std::string_view line) {
    if (has_held_ && held_.event().has_print()) {
      held_.mutable_event()->mutable_print()->mutable_buf()->append(std::string(line) + "\n");
    } else {
      ++reading_->odd_lines;
    }
  }

  Status HandOut() {
    if (!has_held_) return Status::Ok();
    has_held_ = false;
    if (!held_.left_out().empty()) {
      ++reading_->left_out[held_.left_out()];
      return Status::Ok();
    }
    return on_event_(&held_);
  }

  const EventFunction& on_event_;
  CaptureReading* reading_;
  CapturedEvent next_;
  CapturedEvent held_;
  bool has_held_ = false;
};

}  // namespace

Status ReadTextCapture(const std::string& path, const EventFunction& on_event,
                       CaptureReading* reading) {
  Result<ByteSource> source = ByteSource::OpenFile(path);
  if (!source.ok()) return source.status();
  return TextReader(on_event, reading).Read(&source.value());
}

}  // namespace jankbox::tools
