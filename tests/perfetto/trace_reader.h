// An independent, strict reader of our traces: generated classes, an importer's rules, none of our
// writer's code. It fails if an importer would be lenient: unknown fields, state used before a
// clear, names that were never interned, time going back, slices that do not balance, tracks never
// described, frames never ended, flows that end and never began.
#ifndef JANKBOX_TESTS_PERFETTO_TRACE_READER_H_
#define JANKBOX_TESTS_PERFETTO_TRACE_READER_H_

#include <string>
#include <string_view>

#include "tests/perfetto/trace_content.h"

namespace jankbox::testing {

// The zstd frames in `bytes` (skippable ones passed over) decompressed, or `bytes` themselves if
// they are none. Empty `error` on success.
std::string DecompressTrace(std::string_view bytes, std::string* error);

// Reads a trace, compressed or not. Empty `error` on success.
TraceContent ReadTrace(std::string_view bytes, std::string* error,
                       Switches switches = Switches::kAll);

}  // namespace jankbox::testing

#endif  // JANKBOX_TESTS_PERFETTO_TRACE_READER_H_
