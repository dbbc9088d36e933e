#include "tools/symbolize/symbolize_command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/sealed_file.h"
#include "report/report_file.h"
#include "symbolize/java_names.h"
#include "symbolize/named_report.h"
#include "symbolize/report_names.h"
#include "symbolize/symbol_lookup.h"
#include "symbolize/trace_names.h"
#include "tools/reports/report_folder.h"
#include "tools/reports/report_source.h"
#include "tools/symbolize/symbolize_text.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/json_text.h"
#include "tools/terminal/output_file.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

// A report as it was read. Not copied: `parts` are views into `file`.
struct ReadReport {
  std::string location;
  std::string file;
  ReportFileParts parts;
  proto::Report report;
  TraceStacks stacks;
};

class Symbolizing {
 public:
  explicit Symbolizing(const SymbolizeOptions& options) : options_(options) {}

  // False if nothing can be written.
  bool Read() {
    if (!options_.in_place && !Check(CheckOutputFile(options_.output, options_.force)))
      return false;
    for (const std::string& file_or_id : options_.reports) {
      auto read = std::make_unique<ReadReport>();
      if (Check(ReadOne(file_or_id, read.get()))) reports_.push_back(std::move(read));
    }
    return !reports_.empty();
  }

  // False if the mapping cannot be read.
  bool LookUp() {
    SymbolRequests requests;
    for (const auto& read : reports_) {
      CollectFrames(read->report, &summary_.modules);
      CollectFrames(read->stacks, &summary_.modules);
    }
    for (const auto& [build_id, module] : summary_.modules) {
      requests[build_id] = module.addresses;
    }
    summary_.symbols = LookUpSymbols(options_.folders, requests);
    for (const std::string& problem : summary_.symbols.problems) Fail(problem);
    if (options_.mapping.empty()) return true;
    std::set<std::string> calls;
    for (const auto& read : reports_) CollectJavaCalls(read->report, &calls);
    Result<JavaNames> names = LookUpJavaNames(options_.mapping, calls);
    if (!Check(names.status())) return false;
    java_names_ = std::move(names).value();
    return true;
  }

  void Write() {
    for (const auto& read : reports_) {
      const Result<std::string> file = Name(read.get());
      const std::string& output = options_.in_place ? read->location : options_.output;
      const Status status = !file.ok()          ? file.status()
                            : options_.in_place ? ReplaceInPlace(output, file.value())
                                                : WriteOutput(file.value());
      if (!Check(status)) continue;
      summary_.reports.push_back({read->report.id(), output, CountFrames(read->report)});
    }
  }

  const SymbolizeSummary& summary() const { return summary_; }

 private:
  void Fail(const std::string& problem) {
    PrintError(problem);
    summary_.problems.push_back(problem);
  }
  bool Check(const Status& status) {
    if (!status.ok()) Fail(status.message());
    return status.ok();
  }

  Status ReadOne(const std::string& file_or_id, ReadReport* read) {
    const std::string place = options_.place.empty() ? DefaultReportDirectory() : options_.place;
    const Result<SourcedReport> sourced = FindReport(file_or_id, place);
    if (!sourced.ok()) return sourced.status();
    read->location = sourced->location;
    const auto named = [&](const Status& status) {
      return Status(status.code(), read->location + ": " + status.message());
    };
    Result<std::string> file = ReportSource::Fetch(read->location);
    if (!file.ok()) return file.status();
    read->file = std::move(file).value();
    Result<proto::Report> report = ParseReport(read->file);
    if (!report.ok()) return named(report.status());
    read->report = std::move(report).value();
    Result<ReportFileParts> parts = SplitReportFile(read->file);
    if (!parts.ok()) return named(parts.status());
    read->parts = std::move(parts).value();
    RemoveTraceNames(&read->parts);
    Result<TraceStacks> stacks = ReadTraceStacks(read->parts);
    if (!stacks.ok()) {
      Fail(named(stacks.status()).message() + ": its trace gets no names");
    } else {
      read->stacks = std::move(stacks).value();
    }
    return Status::Ok();
  }

  // The file with its names; without those of all threads if it is too large with them.
  Result<std::string> Name(ReadReport* read) {
    const Result<std::vector<std::string>> names = MakeTraceNames(read->stacks, summary_.symbols);
    if (!names.ok()) return names.status();
    for (const std::string& frame : names.value()) read->parts.trace.emplace_back(frame);
    const NamingSummary named = NameReport(summary_.symbols, java_names_, &read->report);
    summary_.java_names += named.java_names;
    Result<std::string> file = JoinReportFile(read->parts, read->report);
    if (!file.ok()) {
      return Status(file.status().code(), read->location + ": " + file.status().message());
    }
    if (named.blamed_only) {
      Fail(read->location +
           ": too large with names for all threads: only the blamed stack has them");
    }
    return file;
  }

  // The spool counts a report's age from its file's time, which stays, as its permissions do.
  static Status ReplaceInPlace(const std::string& path, const std::string& bytes) {
    struct stat st {};
    if (stat(path.c_str(), &st) != 0) return Status::FromErrno(errno, path);
    Result<SealedFile> sealed =
        SealedFile::Create(std::string(DirName(path)), std::string(BaseName(path)));
    if (!sealed.ok()) return sealed.status();
    Status status = sealed->Write(bytes);
    if (!status.ok()) return status;
    const timespec times[] = {st.st_atim, st.st_mtim};
    if (fchmod(sealed->fd(), st.st_mode & 07777) != 0 || futimens(sealed->fd(), times) != 0) {
      return Status::FromErrno(errno, path);
    }
    return sealed->Seal();
  }

  Status WriteOutput(const std::string& bytes) const {
    return WriteOutputFile(options_.output, options_.force,
                           [&](int fd) { return WriteFully(fd, bytes); });
  }

  const SymbolizeOptions& options_;
  std::vector<std::unique_ptr<ReadReport>> reports_;
  JavaNames java_names_;
  SymbolizeSummary summary_;
};

}  // namespace

int RunSymbolize(const SymbolizeOptions& options) {
  Symbolizing symbolizing(options);
  if (!symbolizing.Read() || !symbolizing.LookUp()) return kExitFailed;
  symbolizing.Write();
  const SymbolizeSummary& summary = symbolizing.summary();
  const bool to_stdout = !options.in_place && IsStdout(options.output);
  const int fd = to_stdout ? STDERR_FILENO : STDOUT_FILENO;
  const std::string text = options.json ? JsonText(SymbolizeToJson(summary))
                                        : RenderSymbolize(DetectTextStyle(fd), summary);
  return WriteText(fd, text) && summary.problems.empty() ? kExitOk : kExitFailed;
}

}  // namespace jankbox::tools
