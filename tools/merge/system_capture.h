// A system-wide capture as the kernel's tools leave it: what kind of file it is, and its events one
// after another. Memory stays at a few MiB, however long the file. Untrusted input. Blocks on the
// disk. One thread (a trace.dat is read by a child process, since libtracecmd trusts its input).
#ifndef JANKBOX_TOOLS_MERGE_SYSTEM_CAPTURE_H_
#define JANKBOX_TOOLS_MERGE_SYSTEM_CAPTURE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/status.h"
#include "tools/merge/captured_event.pb.h"

namespace jankbox::tools {

enum class CaptureKind { kPerfetto, kTraceCmd, kText };
const char* CaptureKindName(CaptureKind kind);  // "Perfetto trace", "trace.dat", "tracefs text"

// By the file's first bytes. kInvalidArgument, with what to do, if it is something else.
Result<CaptureKind> DetectCapture(const std::string& path);

// The result of reading, besides the events.
struct CaptureReading {
  std::string clock;           // as trace_clock calls it; empty if the file does not say
  bool counts = false;         // stamps are counts of an unknown length, not ns
  uint64_t resolution_ns = 1;  // of a stamp
  uint64_t lost_events = 0;    // as the kernel counted them
  uint64_t odd_lines = 0;      // of a text: neither an event nor a comment
  bool cut_off = false;        // the file ends inside an event
  std::map<std::string, uint64_t> left_out;   // events that have no form here, by name
  std::function<void(double done)> progress;  // called now and then with 0..1; may be empty
};

// `stamp`s as the file has them. The function may change its event. Events without a form here are
// counted, not handed out.
using EventFunction = std::function<Status(traceproto::CapturedEvent*)>;

Status ReadTextCapture(const std::string& path, const EventFunction& on_event,
                       CaptureReading* reading);
Status ReadTraceCmdCapture(const std::string& path, const EventFunction& on_event,
                           CaptureReading* reading);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_SYSTEM_CAPTURE_H_
