#include "tools/merge/merge_command.h"

#include <unistd.h>

#include "report/report_file.h"
#include "tools/merge/merge_text.h"
#include "tools/reports/report_folder.h"
#include "tools/reports/report_source.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/json_text.h"
#include "tools/terminal/output_file.h"
#include "tools/terminal/progress_line.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

constexpr std::string_view kCompressedSuffix = ".zst";

bool IsCompressed(const std::string& path) {
  return path.size() > kCompressedSuffix.size() &&
         path.compare(path.size() - kCompressedSuffix.size(), kCompressedSuffix.size(),
                      kCompressedSuffix) == 0;
}

// "6.1.0" of "Linux 6.1.0 x86_64".
std::string ReleaseOf(const std::string& os) {
  const size_t begin = os.find(' ');
  if (os.rfind("Linux ", 0) != 0 || begin == std::string::npos) return {};
  return os.substr(begin + 1, os.find(' ', begin + 1) - begin - 1);
}

Status MergeInto(int fd, const MergeOptions& options, const MergeInput& input,
                 proto::Report* report, MergeSummary* summary) {
  TraceOutput output(fd, IsCompressed(options.output));
  Status status = MergeTraces(input, &output, summary);
  if (!status.ok()) return status;
  report->add_notes(MergeNote(*summary));
  return output.Finish(report->SerializeAsString());
}

Status Merge(const MergeOptions& options, proto::Report* report, MergeSummary* summary) {
  const std::string place = options.place.empty() ? DefaultReportDirectory() : options.place;
  const Result<SourcedReport> sourced = FindReport(options.app, place);
  if (!sourced.ok()) return sourced.status();
  const std::string location = sourced.value().location;
  const Result<std::string> file = ReportSource::Fetch(location);
  if (!file.ok()) return file.status();
  const Result<proto::Report> parsed = ParseReport(file.value());
  if (!parsed.ok()) {
    return Status(parsed.status().code(), location + ": " + parsed.status().message());
  }
  *report = parsed.value();
  ProgressLine progress;
  MergeInput input;
  input.report_file = file.value();
  input.report_name = location;
  input.report_clock_error_ns = report->clock_error_ns();
  input.kernel_release = ReleaseOf(report->os());
  input.capture_path = options.system;
  input.clock = options.clock;
  input.join_anyway = options.join_anyway;
  input.progress = [&](const char* what, double done) {
    progress.Show(std::string(what) + " " + options.system, done);
  };
  return WriteOutputFile(options.output, options.force,
                         [&](int fd) { return MergeInto(fd, options, input, report, summary); });
}

}  // namespace

int RunMerge(const MergeOptions& options) {
  if (options.json && IsStdout(options.output)) {
    PrintError("merge: --json and the trace cannot both go to stdout");
    return kExitUsage;
  }
  proto::Report report;
  MergeSummary summary;
  const Status status = Merge(options, &report, &summary);
  if (!status.ok()) {
    PrintError(status.message());
    return kExitFailed;
  }
  const std::string text = options.json ? JsonText(MergeToJson(summary, report.id()))
                                        : RenderMerge(summary, options.output);
  const int fd = IsStdout(options.output) ? STDERR_FILENO : STDOUT_FILENO;
  return WriteText(fd, text) ? kExitOk : kExitFailed;
}

}  // namespace jankbox::tools
