// The reading half of a trace.dat: runs in a child process of its own, since libtracecmd trusts its
// input. Internal to the capture reader.
#ifndef JANKBOX_TOOLS_MERGE_TRACE_CMD_RECORDS_H_
#define JANKBOX_TOOLS_MERGE_TRACE_CMD_RECORDS_H_

#include <functional>
#include <string>

#include "tools/merge/captured_event.pb.h"

namespace jankbox::tools {

// Hands out a message with `clock`, one for each event in order of time, and at last one with
// `problem`, empty if all was read. Stops if `hand_out` returns false. May crash or hang on a
// damaged file.
void ReadTraceCmdRecords(const std::string& path,
                         const std::function<bool(const traceproto::CapturedEvent&)>& hand_out);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_TRACE_CMD_RECORDS_H_
