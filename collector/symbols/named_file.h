// The sealed file of a report with its names, as `jankbox symbolize` makes it. Pure; allocates.
#ifndef JANKBOX_COLLECTOR_SYMBOLS_NAMED_FILE_H_
#define JANKBOX_COLLECTOR_SYMBOLS_NAMED_FILE_H_

#include <string>

#include "base/status.h"
#include "report/report.pb.h"

namespace jankbox::collector {

// `received` with `report` as its message, and `trace_names` (zstd frames) at the end of its trace.
Result<std::string> NamedFile(const std::string& received, const proto::Report& report,
                              const std::string& trace_names);

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_SYMBOLS_NAMED_FILE_H_
