// A report as plain values, for the code inside an app that fills and writes it. The structs are
// made from report.proto at build time (report/generate_report.py): a new field is added there
// only. Allocates; not thread-safe.
#ifndef JANKBOX_REPORT_REPORT_H_
#define JANKBOX_REPORT_REPORT_H_

#include <cstddef>

#include "report/report.fields.h"

namespace jankbox {

// A sealed report is the file <id>.pftrace.zst.
inline constexpr char kReportFileSuffix[] = ".pftrace.zst";
inline constexpr size_t kMaxReportMessageBytes = 1u << 20;

}  // namespace jankbox

#endif  // JANKBOX_REPORT_REPORT_H_
