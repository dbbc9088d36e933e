#include "collector/symbols/named_file.h"

#include "report/report_file.h"

namespace jankbox::collector {

Result<std::string> NamedFile(const std::string& received, const proto::Report& report,
                              const std::string& trace_names) {
  Result<ReportFileParts> parts = SplitReportFile(received);
  if (!parts.ok()) return parts.status();
  if (!trace_names.empty()) parts->trace.push_back(trace_names);
  return JoinReportFile(parts.value(), report);
}

}  // namespace jankbox::collector
