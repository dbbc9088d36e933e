// Traces and captures made by hand for the tests of the joining: libprotobuf and text only, none of
// Jankbox's own writers.
#ifndef JANKBOX_TESTS_TOOLS_MERGE_CAPTURE_TEXTS_H_
#define JANKBOX_TESTS_TOOLS_MERGE_CAPTURE_TEXTS_H_

#include <cstdint>
#include <string>

#include "tests/perfetto/trace.pb.h"

namespace jankbox::tools {

inline constexpr int32_t kAppPid = 4001;                   // of SampleReport()
inline constexpr uint64_t kBoottimeNs = 100'000'000'000;   // when the app's trace begins
inline constexpr uint64_t kBootMinusMono = 7'000'000'000;  // suspended for 7 s

// A trace as a report has it: BOOTTIME, MONOTONIC 7 s after; on the main thread "outer" from 0 to
// 100 ms with "inner" from 10 to 20 ms and "shared" from 30 to 40 ms in it; a counter "queue" of 5
// at 50 ms, an asynchronous "load" on a track of its own from 60 to 70 ms.
testproto::Trace AppTraceByHand();

// Perfetto bytes of `trace` with kernel events: sequence ids and uuids are those of the app's
// trace.
testproto::Trace PerfettoCapture(uint64_t realtime_shift_ns = 0);

// One line of tracefs: `ms` after the app's beginning, on the given clock (offset against
// BOOTTIME).
std::string Line(const std::string& task, double ms, const std::string& rest,
                 int64_t clock_offset_ns = -static_cast<int64_t>(kBootMinusMono));

}  // namespace jankbox::tools

#endif  // JANKBOX_TESTS_TOOLS_MERGE_CAPTURE_TEXTS_H_
