#include "tools/run/run_feed.h"

#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/signal_name.h"
#include "report/report_file.h"
#include "report/report_json.h"
#include "tools/reports/report_view.h"
#include "tools/terminal/terminal.h"
#include "uploader/spool/spool_folder.h"

namespace jankbox::tools {
namespace {

constexpr int kOwnLineTimeoutMs = 500;
constexpr int kLookIntervalMs = 500;  // if the kernel gave no watch
constexpr char kClearLine[] = "\r\x1b[K";

void Write(const std::string& text) {
  pollfd stderr_ready{STDERR_FILENO, POLLOUT, 0};
  if (poll(&stderr_ready, 1, kOwnLineTimeoutMs) != 1) return;
  (void)!WriteFully(STDERR_FILENO, text).ok();
}

std::string Reports(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " report" : " reports");
}

ReportView View(const proto::Report& report) { return ViewReport(ReportToJson(report)); }

}  // namespace

void Say(const std::string& line) { Write("jankbox: " + line + "\n"); }

RunFeed::RunFeed(Spool* spool, std::string upload_url, bool quiet, bool children,
                 const std::string& only)
    : spool_(spool),
      quiet_(quiet),
      children_(children || !only.empty()),
      only_(only),
      style_(DetectTextStyle(STDERR_FILENO)),
      upload_url_(std::move(upload_url)),
      folder_(spool->directory()),
      incidents_(style_) {
  Result<std::unique_ptr<AgentChannel>> agents = AgentChannel::Open(children_ ? 0 : getpid());
  if (agents.ok()) agents_ = std::move(agents.value());  // else what agents say is missed
}

void RunFeed::StartUpload() {
  if (!upload_url_.empty()) upload_.emplace(spool_, upload_url_);
}

int RunFeed::AddSources(std::vector<pollfd>* sources) const {
  if (agents_ != nullptr) sources->push_back({agents_->fd(), POLLIN, 0});
  if (upload_.has_value()) sources->push_back({upload_->fd(), POLLIN, 0});
  if (folder_.fd() < 0) return kLookIntervalMs;
  sources->push_back({folder_.fd(), POLLIN, 0});
  return -1;
}

void RunFeed::SayLine(const std::string& line) {
  if (progress_shown_) Write(kClearLine);
  progress_shown_ = false;
  Say(line);
}

void RunFeed::TellIncident(const proto::Report& report) {
  const std::string line = incidents_.Add(View(report), MonotonicNs());
  if (!line.empty() && !quiet_) SayLine(line);
}

void RunFeed::Tell() {
  while (const std::optional<AgentMessage> message =
             agents_ != nullptr ? agents_->Next() : std::nullopt) {
    if (message->kind == AgentMessage::Kind::kWatched) {
      watched_.Add(message->text, MonotonicNs());
    } else if (message->kind == AgentMessage::Kind::kInstance) {
      instances_.Remove(message->text);
    } else if (message->kind == AgentMessage::Kind::kPossible) {
      watched_.AddPossibleStalls(message->text);
    } else if (message->kind == AgentMessage::Kind::kCounted) {
      incidents_.AddCounted(message->text);
    } else if (message->kind == AgentMessage::Kind::kJava) {
      watched_.AddJava(message->text);
    } else if (message->kind == AgentMessage::Kind::kRecognised) {
      watched_.AddRecognised(message->text);
    } else if (++error_count_ == 1) {
      SayLine(Printable(message->text));
    }
  }
  if (upload_.has_value()) {
    upload_->Clear();
    for (const proto::Report& report : upload_->TakeSeen()) TellIncident(report);
  }
  const std::vector<std::string> paths = folder_.NewReports();
  for (const std::string& path : paths) {
    const Result<proto::Report> report = ReadReportFile(path);
    if (report.ok()) TellIncident(report.value());  // else replaced, sent, or of another process
  }
  if (upload_.has_value() && !paths.empty()) upload_->Wake();
}

void RunFeed::AddWatched(std::string_view text) { watched_.Add(text, MonotonicNs()); }

void RunFeed::TellRecovered(const std::vector<std::string>& ids) {
  IncidentLog earlier(style_);
  for (const std::string& id : ids) {
    const Result<proto::Report> report = ReadReportFile(ReportPath(spool_->directory(), id));
    if (!report.ok() || quiet_) continue;
    const std::string line = earlier.Add(View(report.value()), MonotonicNs());
    if (!line.empty()) SayLine(line + ", left by an earlier run");
  }
}

std::string RunFeed::WhyNothingWasWatched(const std::string& obstacle) const {
  if (!obstacle.empty()) return Printable(obstacle);
  if (error_count_ > 0) return "recording was not possible (see above)";
  if (watched_.java_without_ui()) return "the Java VM had no event thread of AWT";
  std::string why = "no thread waited in a loop that Jankbox knows";
  if (!only_.empty()) why += " in a program named " + Printable(only_);
  if (watched_.missed_java_ui()) return why;
  return why + (children_ ? "" : " (--children watches what the program starts, too)");
}

void RunFeed::TellSummary(const std::string& obstacle, int wait_status) {
  if (quiet_) return;
  std::string line = incidents_.Summary();
  if (incidents_.empty() && watched_.empty()) {
    line = "nothing was watched: " + WhyNothingWasWatched(obstacle);
  }
  const std::string directory = Printable(spool_->directory());
  if (!incidents_.empty() && !upload_.has_value()) {
    line += ", reports in " + directory + "; jankbox list " + directory;
  }
  if (error_count_ > 1) {
    const size_t more = error_count_ - 1;
    line += "; " + std::to_string(more) + (more == 1 ? " more error" : " more errors");
  }
  const std::string watched = watched_.Summary(MonotonicNs());
  if (!watched.empty()) line += "; " + watched;
  if (watched_.missed_java_ui()) {
    line += "; the event thread of a Java program was not watched (--java watches it)";
  }
  if (WIFSIGNALED(wait_status)) {
    line += "; the program was ended by " + SignalName(WTERMSIG(wait_status));
  } else if (WEXITSTATUS(wait_status) != 0) {
    line += "; the program exited with status " + std::to_string(WEXITSTATUS(wait_status));
  }
  SayLine(line);
}

void RunFeed::BeginFinalUpload(uint64_t deadline_monotonic_ns) {
  upload_->BeginFinal(deadline_monotonic_ns);
}

void RunFeed::TellUploadProgress() {
  if (quiet_ || !style_.tty) return;
  const uint64_t kept = upload_->total().kept;
  Write(kClearLine + ("jankbox: sending to " + Printable(upload_url_)) +
        (kept > 0 ? ", " + Reports(kept) + " to go" : ""));
  progress_shown_ = true;
}

void RunFeed::TellUploadSummary() {
  DrainSummary total = upload_->total();
  if (!upload_->ended()) {  // its own sum is older than what it does now
    const Result<std::vector<SpoolEntry>> entries = spool_->List();
    if (entries.ok()) total.kept = entries->size();
    if (total.last_error.empty()) total.last_error = "the server did not answer in time";
  }
  const std::string url = Printable(upload_url_);
  std::string line;
  if (total.sent > 0) line = Reports(total.sent) + " sent to " + url;
  if (total.dropped > 0) line += (line.empty() ? "" : ", ") + Reports(total.dropped) + " refused";
  if (total.kept > 0) {
    line += (line.empty() ? "" : ", ") + Reports(total.kept) + " kept in " +
            Printable(spool_->directory());
  }
  const bool failed = total.kept > 0 || total.dropped > 0;
  if (failed && !total.last_error.empty()) line += " (" + Printable(total.last_error) + ")";
  if (!failed && !line.empty()) line += "; jankbox list " + url;
  if (!line.empty() && (failed || !quiet_)) SayLine(line);
}

}  // namespace jankbox::tools
