#include "tools/reports/export_command.h"

#include "base/file.h"
#include "report/report_file.h"
#include "tools/merge/systrace_text.h"
#include "tools/reports/report_folder.h"
#include "tools/reports/report_source.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/output_file.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

// The window is 10 s or 8 MiB of ring by default; a trace of more than this is no report's.
constexpr size_t kMaxTraceBytes = size_t{2} << 30;

Status WriteTrace(const std::string& file, const ExportOptions& options) {
  return WriteOutputFile(options.output, options.force, [&](int fd) {
    return DecompressTrace(file, kMaxTraceBytes,
                           [&](std::string_view piece) { return WriteFully(fd, piece); });
  });
}

Status WriteSystraceText(const std::string& file, const std::string& name,
                         const ExportOptions& options) {
  const Result<AppTrace> app = ReadAppTrace(file);
  if (!app.ok()) return Status(app.status().code(), name + ": " + app.status().message());
  return WriteOutputFile(options.output, options.force, [&](int fd) {
    return WriteSystrace(app.value(),
                         [&](std::string_view piece) { return WriteFully(fd, piece); });
  });
}

}  // namespace

int RunExport(const ExportOptions& options) {
  const std::string place = options.place.empty() ? DefaultReportDirectory() : options.place;
  const Result<SourcedReport> sourced = FindReport(options.file_or_id, place);
  const Result<std::string> file =
      sourced.ok() ? ReportSource::Fetch(sourced->location) : sourced.status();
  Status status = file.status();
  if (file.ok()) {
    status = options.systrace ? WriteSystraceText(file.value(), sourced.value().location, options)
                              : WriteTrace(file.value(), options);
  }
  if (!status.ok()) PrintError(status.message());
  return status.ok() ? kExitOk : kExitFailed;
}

}  // namespace jankbox::tools
