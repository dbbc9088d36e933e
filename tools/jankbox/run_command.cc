#include "tools/jankbox/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "base/file.h"
#include "tools/jankbox/agent_library.h"
#include "tools/jankbox/child_process.h"
#include "tools/jankbox/error_channel.h"
#include "tools/jankbox/exit_code.h"
#include "tools/jankbox/folder_watch.h"
#include "tools/jankbox/incident_log.h"
#include "tools/jankbox/report_source.h"
#include "tools/jankbox/signal_inbox.h"
#include "tools/jankbox/terminal.h"
#include "uploader/report/report_file.h"
#include "uploader/report/report_json.h"

namespace jankbox::tools {
namespace {

constexpr int kOwnLineTimeoutMs = 500;

// One line of ours on stderr. A reader that has stopped reading loses it: neither the program's end
// nor its signals wait for us.
void Say(const std::string& line) {
  pollfd stderr_ready{STDERR_FILENO, POLLOUT, 0};
  if (poll(&stderr_ready, 1, kOwnLineTimeoutMs) != 1) return;
  (void)!WriteFully(STDERR_FILENO, "jankbox: " + line + "\n").ok();
}

// A standard stream that is closed here stays closed in the program, and no file of ours takes its
// number meanwhile.
void ReserveStandardFds() {
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) == -1) (void)!open("/dev/null", O_RDWR | O_CLOEXEC);
  }
}

std::string AbsolutePath(const std::string& path) {
  if (!path.empty() && path[0] == '/') return path;
  char* current = getcwd(nullptr, 0);
  const std::string absolute = JoinPath(current != nullptr ? current : "/", path);
  free(current);
  return absolute;
}

// One run of one program.
class Run {
 public:
  explicit Run(const RunOptions& options)
      : options_(options),
        directory_(
            AbsolutePath(options.directory.empty() ? DefaultReportDirectory() : options.directory)),
        incidents_(DetectTextStyle(STDERR_FILENO)) {}

  int Execute();

 private:
  // False, with one error told, where nothing can be recorded.
  bool Prepare();
  ChildProcess::Environment AgentEnvironment() const;
  int Start();
  void WaitForEnd();
  void PassOnSignals();
  void TellIncidents();
  void TellErrors();
  void Summarise();

  const RunOptions& options_;
  const std::string directory_;
  std::string agent_;
  std::unique_ptr<SignalInbox> signals_;
  std::unique_ptr<ErrorChannel> errors_;
  std::unique_ptr<FolderWatch> folder_;
  IncidentLog incidents_;
  ChildProcess child_;
  size_t error_count_ = 0;
};

bool Run::Prepare() {
  agent_ = FindAgent();
  if (agent_.empty()) {
    Say("nothing will be recorded: the agent is not there (looked at " +
        LibraryCandidates(kAgentFile)[0] + "; JANKBOX_AGENT may name it)");
    return false;
  }
  Status status = MakeDirectories(directory_, 0700);
  Result<std::unique_ptr<FolderWatch>> folder = status;
  if (status.ok()) folder = FolderWatch::Open(directory_);
  Result<std::unique_ptr<ErrorChannel>> errors = folder.status();
  if (folder.ok()) errors = ErrorChannel::Open();
  if (!errors.ok()) {
    Say("no reports will be written: " + Printable(errors.status().message()));
    return false;
  }
  folder_ = std::move(folder.value());
  errors_ = std::move(errors.value());
  return true;
}

ChildProcess::Environment Run::AgentEnvironment() const {
  if (errors_ == nullptr) return {};
  // Ours comes last: what the user preloads keeps its place.
  const char* preloaded = getenv("LD_PRELOAD");
  const std::string before = preloaded != nullptr && *preloaded != '\0' ? preloaded : "";
  return {{"LD_PRELOAD", before.empty() ? agent_ : before + ":" + agent_},
          {"JANKBOX_DIR", directory_},
          {"JANKBOX_SLOW_MS", std::to_string(options_.slow_ms)},
          {"JANKBOX_ANR_MS", std::to_string(options_.anr_ms)},
          {"JANKBOX_WINDOW_S", std::to_string(options_.window_s)},
          {"JANKBOX_MIN_FREE_MIB", std::to_string(options_.min_free_mib)},
          {"JANKBOX_RUN_SOCKET", errors_->name()}};
}

// 0, or the status to exit with.
int Run::Start() {
  const int error =
      child_.Start(options_.program, AgentEnvironment(), [this] { signals_->RestoreInChild(); });
  if (error == 0) return kExitOk;
  Say(Printable(options_.program[0]) + ": " + strerror(error));
  return error == ENOENT || error == ENOTDIR ? kExitNotFound : kExitNotExecutable;
}

void Run::PassOnSignals() {
  while (const std::optional<signalfd_siginfo> signal = signals_->Next()) {
    if (SignalInbox::ShouldForward(*signal)) child_.Signal(static_cast<int>(signal->ssi_signo));
  }
}

void Run::TellIncidents() {
  if (folder_ == nullptr) return;
  for (const std::string& path : folder_->NewReports()) {
    const Result<proto::Report> report = ReadReportFile(path);
    if (!report.ok()) continue;  // replaced by a later revision, sent, or not ours
    const std::string line = incidents_.Add(ViewReport(ReportToJson(report.value())));
    if (!line.empty() && !options_.quiet) Say(line);
  }
}

void Run::TellErrors() {
  if (errors_ == nullptr) return;
  while (const std::optional<std::string> error = errors_->Next()) {
    if (++error_count_ == 1) Say(Printable(*error));
  }
}

void Run::WaitForEnd() {
  while (!child_.HasEnded()) {
    pollfd sources[] = {{signals_->fd(), POLLIN, 0},
                        {errors_ != nullptr ? errors_->fd() : -1, POLLIN, 0},
                        {folder_ != nullptr ? folder_->fd() : -1, POLLIN, 0}};
    if (poll(sources, std::size(sources), -1) < 0 && errno != EINTR) break;
    PassOnSignals();
    TellErrors();
    TellIncidents();
  }
}

void Run::Summarise() {
  if (options_.quiet) return;
  std::string line = incidents_.Summary();
  if (!incidents_.empty())
    line += ", reports in " + Printable(directory_) + "; jankbox list " + Printable(directory_);
  if (error_count_ > 1) line += "; " + std::to_string(error_count_ - 1) + " more errors";
  Say(line);
}

int Run::Execute() {
  ReserveStandardFds();
  Result<std::unique_ptr<SignalInbox>> signals = SignalInbox::Open();
  if (!signals.ok()) {
    Say(signals.status().message());
    return kExitFailed;
  }
  signals_ = std::move(signals.value());
  const bool recording = Prepare();
  const int status = Start();
  if (status != kExitOk) return status;
  WaitForEnd();
  TellErrors();
  TellIncidents();
  if (recording) Summarise();
  return child_.EndAsItDid();
}

}  // namespace

int RunProgram(const RunOptions& options) { return Run(options).Execute(); }

}  // namespace jankbox::tools
