#include "report/report_file.h"

#include <zstd.h>
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#endif

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/file.h"
#include "base/uuid.h"
#include "report/report_encoder.h"

namespace jankbox {
namespace {

constexpr uint32_t kZstdMagic = 0xFD2FB528;
constexpr uint32_t kSkippableMagic = 0x184D2A50;  // the first of sixteen
constexpr uint32_t kSkippableMask = 0xFFFFFFF0;
constexpr int kMaxWindowLog = 21;
// A trace is a frame each 256 KiB: room for 1 GiB.
constexpr int kMaxFrames = 4096;

Status Corrupt(const char* why) {
  return Status(StatusCode::kCorrupt, std::string("damaged report file: ") + why);
}

// REQUIRES bytes <= 8 and bytes <= text.size().
uint64_t LittleEndian(std::string_view text, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) {
    value |= static_cast<uint64_t>(static_cast<uint8_t>(text[i])) << (8 * i);
  }
  return value;
}

// Window size in bytes of the zstd frame that `frame` begins with (RFC 8878, 3.1.1.1).
Result<uint64_t> WindowSize(std::string_view frame) {
  if (frame.size() < 6) return Corrupt("truncated in a frame header");
  const uint8_t descriptor = static_cast<uint8_t>(frame[4]);
  if ((descriptor & 0x08) != 0) return Corrupt("reserved bit of a frame header");
  if ((descriptor & 0x03) != 0) return Corrupt("a frame needs a dictionary");
  const bool single_segment = (descriptor & 0x20) != 0;
  if (!single_segment) {
    const uint8_t window = static_cast<uint8_t>(frame[5]);
    const uint64_t base = uint64_t{1} << (10 + (window >> 3));
    return base + base / 8 * (window & 7);
  }
  const size_t size_bytes = size_t{1} << (descriptor >> 6);
  if (frame.size() < 5 + size_bytes) return Corrupt("truncated in a frame header");
  return LittleEndian(frame.substr(5), size_bytes) + (size_bytes == 2 ? 256 : 0);
}

Result<size_t> ZstdFrameSize(std::string_view rest) {
  Result<uint64_t> window = WindowSize(rest);
  if (!window.ok()) return window.status();
  if (window.value() > (uint64_t{1} << kMaxWindowLog)) return Corrupt("frame window above 2^21");
  const size_t size = ZSTD_findFrameCompressedSize(rest.data(), rest.size());
  if (ZSTD_isError(size) || size == 0 || size > rest.size()) return Corrupt("truncated in a frame");
  return size;
}

// Walks the frames: zstd ones, then skippable ones, and not a byte besides.
Result<ReportFileParts> WalkFrames(std::string_view file) {
  ReportFileParts parts;
  uint32_t last_magic = 0;
  size_t trace_end = 0, last_begin = 0, at = 0;
  for (int frames = 0; at < file.size(); ++frames) {
    const std::string_view rest = file.substr(at);
    if (frames == kMaxFrames) return Corrupt("too many frames");
    if (rest.size() < 8) return Corrupt("truncated in a frame header");
    const uint32_t magic = static_cast<uint32_t>(LittleEndian(rest, 4));
    last_begin = at;
    if (magic == kZstdMagic) {
      if (trace_end != at) return Corrupt("trace after the report");
      Result<size_t> size = ZstdFrameSize(rest);
      if (!size.ok()) return size.status();
      parts.trace.push_back(rest.substr(0, size.value()));
      at += size.value();
      trace_end = at;
    } else if ((magic & kSkippableMask) == kSkippableMagic) {
      if (at == 0) return Corrupt("no trace before the report");
      const uint64_t length = LittleEndian(rest.substr(4), 4);
      if (length > rest.size() - 8) return Corrupt("truncated in the report");
      parts.report = rest.substr(8, static_cast<size_t>(length));
      at += 8 + static_cast<size_t>(length);
    } else {
      return Corrupt("not a zstd frame");
    }
    last_magic = magic;
  }
  if (last_magic != kReportFrameMagic) return Corrupt("no report at the end");
  parts.others = file.substr(trace_end, last_begin - trace_end);
  return parts;
}

// libprotobuf writes a line to stderr for each refused message: hostile uploads would fill the log.
bool ParseQuietly(std::string_view message, proto::Report* report) {
#if GOOGLE_PROTOBUF_VERSION < 4022000
  google::protobuf::LogSilencer silencer;
#endif
  return report->ParseFromArray(message.data(), static_cast<int>(message.size()));
}

size_t TraceBytes(const ReportFileParts& parts) {
  size_t bytes = 0;
  for (const std::string_view frame : parts.trace) bytes += frame.size();
  return bytes;
}

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

Result<proto::Report> ParseReport(std::string_view file) {
  Result<ReportFileParts> parts = WalkFrames(file);
  if (!parts.ok()) return parts.status();
  const std::string_view message = parts->report;
  if (message.size() > kMaxReportMessageBytes) return Corrupt("report message too large");
  proto::Report report;
  if (!ParseQuietly(message, &report)) return Corrupt("the report message cannot be parsed");
  if (!IsUuid(report.id())) return Corrupt("the report id is not a UUID");
  return report;
}

Result<proto::Report> ReadReportFile(const std::string& path) {
  Result<std::string> file = ReadFile(path, kMaxReportFileBytes);
  if (!file.ok()) return file.status();
  Result<proto::Report> report = ParseReport(file.value());
  if (report.ok()) return report;
  return Status(report.status().code(), path + ": " + report.status().message());
}

Status DecompressTrace(std::string_view file, size_t max_bytes,
                       const std::function<Status(std::string_view)>& write) {
  Result<ReportFileParts> parts = WalkFrames(file);
  if (!parts.ok()) return parts.status();
  const std::string_view trace = file.substr(0, TraceBytes(parts.value()));
  std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (context == nullptr) return Status(StatusCode::kNoSpace, "no memory for zstd");
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kMaxWindowLog);

  std::string piece(64 << 10, '\0');
  ZSTD_inBuffer in{trace.data(), trace.size(), 0};
  size_t written = 0;
  size_t hint = 1;
  // A full piece may leave output inside the context, with all of the input already taken.
  for (bool more = true; more || in.pos < in.size;) {
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    hint = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(hint)) return Corrupt(ZSTD_getErrorName(hint));
    if (out.pos > max_bytes - written) {
      return Status(StatusCode::kInvalidArgument,
                    "trace larger than " + std::to_string(max_bytes) + " bytes");
    }
    written += out.pos;
    Status status = write(std::string_view(piece.data(), out.pos));
    if (!status.ok()) return status;
    more = hint != 0 && out.pos == out.size;
  }
  return hint == 0 ? Status::Ok() : Corrupt("trace ends inside a frame");
}

Result<ReportFileParts> SplitReportFile(std::string_view file) { return WalkFrames(file); }

Result<std::string> JoinReportFile(const ReportFileParts& parts, const proto::Report& report) {
  const std::string message = report.SerializeAsString();
  const auto too_large = [](const char* what) {
    return Status(StatusCode::kNoSpace, std::string(what) + " would be too large for a reader");
  };
  if (message.size() > kMaxReportMessageBytes) return too_large("the report message");
  std::string file;
  file.reserve(TraceBytes(parts) + parts.others.size() + message.size() + 8);
  for (const std::string_view frame : parts.trace) file += frame;
  file += parts.others;
  file += SkippableFrame(message);
  if (file.size() > kMaxReportFileBytes) return too_large("the file");
  const Result<ReportFileParts> walked = WalkFrames(file);  // the number of frames
  if (!walked.ok()) return walked.status();
  return file;
}

}  // namespace jankbox
