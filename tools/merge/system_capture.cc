#include "tools/merge/system_capture.h"

#include "symbolize/packets/byte_source.h"
#include "tools/merge/trace_line.h"

namespace jankbox::tools {
namespace {

constexpr size_t kHeadBytes = 64 << 10;
constexpr std::string_view kTraceCmdMagic = "\x17\x08\x44tracing";
constexpr std::string_view kRingMagic = "JBXRING";

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool LooksLikeText(std::string_view head) {
  if (head.find('\0') != std::string_view::npos) return false;
  traceproto::CapturedEvent event;
  bool counts;
  while (!head.empty()) {
    const size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = head.substr(0, end);
    if (StartsWith(line, "# tracer:")) return true;
    if (ParseTraceLine(line, &event, &counts) == LineKind::kEvent) return true;
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  return false;
}

// Names the format of a file that is not a capture, and how to fix it.
std::string WhatElse(std::string_view head) {
  if (head.empty()) return "the file is empty";
  if (StartsWith(head, "\x1f\x8b")) return "gzip: unpack it first (gunzip)";
  if (StartsWith(head, "PK")) return "a zip archive: unpack it first";
  if (StartsWith(head, "{") || StartsWith(head, "[")) {
    return "a JSON trace, which has no kernel events to merge";
  }
  if (StartsWith(head, "<")) return "systrace HTML: extract its text first";
  if (StartsWith(head, kRingMagic)) return "a Jankbox ring, not a capture of the kernel";
  return "not a capture: expected a Perfetto trace, a trace.dat, or the text of "
         "/sys/kernel/tracing/trace";
}

}  // namespace

const char* CaptureKindName(CaptureKind kind) {
  switch (kind) {
    case CaptureKind::kPerfetto:
      return "Perfetto trace";
    case CaptureKind::kTraceCmd:
      return "trace.dat";
    case CaptureKind::kText:
      return "tracefs text";
  }
  return "";
}

Result<CaptureKind> DetectCapture(const std::string& path) {
  Result<ByteSource> source = ByteSource::OpenFile(path);
  if (!source.ok()) return source.status();
  Result<std::string_view> head = source->Peek(kHeadBytes);
  if (!head.ok()) return Status(head.status().code(), path + ": " + head.status().message());
  if (StartsWith(head.value(), kTraceCmdMagic)) {
    if (!source->compressed()) return CaptureKind::kTraceCmd;
    return Status(StatusCode::kInvalidArgument, path + ": a compressed trace.dat: unpack it first");
  }
  if (LooksLikeText(head.value())) return CaptureKind::kText;
  if (StartsWith(head.value(), "\x0a")) return CaptureKind::kPerfetto;
  return Status(StatusCode::kInvalidArgument, path + ": " + WhatElse(head.value()));
}

}  // namespace jankbox::tools
