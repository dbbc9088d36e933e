#include "tools/run/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/file.h"
#include "base/process_runner.h"
#include "diagnosis/seal/process_end.h"
#include "diagnosis/seal/recovery.h"
#include "diagnosis/seal/start_history.h"
#include "sdk/api/option_entries.h"
#include "tools/doctor/agent_library.h"
#include "tools/reports/report_folder.h"
#include "tools/run/own_end.h"
#include "tools/run/preflight.h"
#include "tools/run/run_feed.h"
#include "tools/run/signal_inbox.h"
#include "tools/run/watch_defaults.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/terminal.h"
#include "uploader/spool/spool.h"

namespace jankbox::tools {
namespace {

// How long the end of a run may wait for the upload; requests end a little earlier, and say how.
constexpr uint64_t kFinalUploadNs = 10 * kNsPerSecond;
constexpr uint64_t kFinalRequestsNs = 9'500 * kNsPerMs;

// A standard stream that is closed here stays closed in the program, and no file of jankbox takes
// its number meanwhile.
void ReserveStandardFds() {
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) == -1) (void)!open("/dev/null", O_RDWR | O_CLOEXEC);
  }
}

// Of V8: a map of names for perf, and a code address of its own for each function that is not yet
// compiled.
constexpr const char* kNameJs[] = {"--perf-basic-prof", "--interpreted-frames-native-stack"};

using RunEnvironment = std::vector<std::pair<std::string, std::string>>;

// Whether a program that ended so did what nobody asked it for.
bool Crashed(int wait_status) {
  return WIFSIGNALED(wait_status) && !IsRequestToEnd(WTERMSIG(wait_status));
}

// One run of one program.
class Run {
 public:
  explicit Run(const RunOptions& options)
      : options_(options),
        directory_(AbsolutePath(options.directory.empty() ? DefaultReportDirectory()
                                                          : options.directory)) {}

  int Execute();

 private:
  // Leaves feed_ empty, with one error reported, if nothing can be recorded.
  void Prepare();
  RunEnvironment AgentEnvironment() const;
  // The command line as options of the table, which win over all that the program says itself.
  std::string ProgramOptions() const;
  // What concerns the agent and not the recorder.
  std::string AgentSettings() const;
  // Whether Java VMs are to load Jankbox's library for them.
  bool LoadsIntoJava() const;
  // Whether Node.js is to write the names of its JavaScript functions.
  bool NamesJs() const;
  std::vector<std::string> CommandLine() const;
  // 0, or the status to exit with.
  int Start();
  void WaitForProgram();
  void WaitForUpload();
  // Waits for something to happen, a second at most if `bounded`.
  void WaitForEvent(bool bounded);

  const RunOptions& options_;
  const std::string directory_;
  Preflight preflight_;
  std::string agent_;
  std::unique_ptr<SignalInbox> signals_;
  std::optional<Spool> spool_;
  std::optional<RunFeed> feed_;  // none: nothing is recorded
  ChildProcess child_;
  uint64_t asked_ns_ = 0;  // when the program was asked to end; 0: it was not
};

void Run::Prepare() {
  agent_ = FindAgent();
  if (agent_.empty()) {
    return Say("nothing will be recorded: " + AgentCandidates()[0] +
               " does not exist (JANKBOX_AGENT can name the agent)");
  }
  if (!IsReadable(RecorderPath(agent_))) {
    return Say("nothing will be recorded: the agent needs " + RecorderPath(agent_) +
               ", which does not exist");
  }
  SpoolLimits limits;
  if (options_.min_free_mib) limits.min_free_bytes = uint64_t{*options_.min_free_mib} << 20;
  Result<Spool> spool = Spool::Open(directory_, limits);
  if (!spool.ok()) {
    return Say("no reports will be written: " + Printable(spool.status().message()));
  }
  spool_.emplace(std::move(spool.value()));
  const Result<std::vector<std::string>> recovered =
      RecoverOrphanRings(directory_, &spool_.value());
  feed_.emplace(&spool_.value(), options_.upload_url, options_.quiet, options_.children,
                options_.only);
  if (recovered.ok()) feed_->TellRecovered(recovered.value());
  if (options_.java && !IsReadable(JavaAgentPath(agent_))) {
    Say("no Java program will be watched: " + JavaAgentPath(agent_) +
        " does not exist (it is built if a JDK is installed)");
  }
  if (!preflight_.obstacle.empty() && !options_.quiet) {
    Say("nothing can be watched: " + Printable(preflight_.obstacle));
  }
}

std::string Run::ProgramOptions() const {
  std::string text = WatchEntries({.directory = directory_,
                                   .slow_ms = options_.slow_ms,
                                   .anr_ms = options_.anr_ms,
                                   .window_s = options_.window_s,
                                   .min_free_mib = options_.min_free_mib});
  std::string names;
  for (const std::string& name : options_.threads) names += (names.empty() ? "" : ",") + name;
  if (!names.empty()) text += ",watch_threads=" + Quoted(names);
  if (options_.js) text += ",js_names=on";
  return text;
}

bool Run::LoadsIntoJava() const {
  return options_.java && feed_.has_value() && preflight_.obstacle.empty() &&
         IsReadable(JavaAgentPath(agent_));
}

bool Run::NamesJs() const {
  return options_.js && feed_.has_value() && preflight_.obstacle.empty();
}

std::vector<std::string> Run::CommandLine() const {
  std::vector<std::string> command = options_.program;
  if (LoadsIntoJava() && preflight_.is_java) {
    command.insert(command.begin() + 1, "-agentpath:" + JavaAgentPath(agent_));
  }
  if (NamesJs() && preflight_.is_node) {
    // V8's log, which nobody reads, goes to a temporary file.
    command.insert(command.begin() + 1,
                   {kNameJs[0], kNameJs[1], "--no-logfile-per-isolate", "--logfile=+"});
  }
  return command;
}

RunEnvironment Run::AgentEnvironment() const {
  if (!feed_.has_value() || !preflight_.obstacle.empty()) return {};
  // The agent comes last: libraries that the user preloads keep their order.
  const char* preloaded = getenv("LD_PRELOAD");
  std::string libraries = preflight_.first_library;
  const auto add = [&libraries](const std::string& library) {
    if (!library.empty()) libraries += (libraries.empty() ? "" : ":") + library;
  };
  add(WithAgent(preloaded != nullptr ? preloaded : "", agent_));  // a session may have added one
  RunEnvironment environment = {{"LD_PRELOAD", libraries},
                                {"JANKBOX_RUN_OPTIONS", ProgramOptions()},
                                {"JANKBOX_RUN_AGENT", AgentSettings()},
                                {"JANKBOX_RUN_SOCKET", feed_->agent_socket()}};
  if (LoadsIntoJava() && !preflight_.is_java) {
    // The user's own options stay. A VM splits the text at blanks outside of quotes.
    const char* own = getenv("JAVA_TOOL_OPTIONS");
    const std::string options = own != nullptr && *own != '\0' ? std::string(own) + " " : "";
    environment.emplace_back("JAVA_TOOL_OPTIONS",
                             options + "\"-agentpath:" + JavaAgentPath(agent_) + "\"");
  }
  if (NamesJs() && !preflight_.is_node) {
    const char* own = getenv("NODE_OPTIONS");
    const std::string options = own != nullptr && *own != '\0' ? std::string(own) + " " : "";
    environment.emplace_back("NODE_OPTIONS", options + kNameJs[0] + " " + kNameJs[1]);
  }
  return environment;
}

std::string Run::AgentSettings() const {
  std::string text = options_.startup ? "startup=1" : "startup=0";
  if (options_.java) text += ",java=1";
  if (!options_.only.empty()) text += ",only=" + Quoted(options_.only);
  return text;
}

int Run::Start() {
  const int error =
      child_.Start({.argv = CommandLine(), .environment = AgentEnvironment(), .in_child = [this] {
                      signals_->RestoreInChild();
                    }});
  if (error == 0) return kExitOk;
  Say(Printable(options_.program[0]) + ": " + strerror(error));
  return error == ENOENT || error == ENOTDIR ? kExitNotFound : kExitNotExecutable;
}

void Run::WaitForEvent(bool bounded) {
  std::vector<pollfd> sources = {{signals_->fd(), POLLIN, 0}};
  int timeout_ms = feed_.has_value() ? feed_->AddSources(&sources) : -1;
  if (bounded && timeout_ms < 0) timeout_ms = 1000;
  poll(sources.data(), sources.size(), timeout_ms);
  if (feed_.has_value()) feed_->Tell();
}

void Run::WaitForProgram() {
  while (!child_.HasEnded()) {
    WaitForEvent(/*bounded=*/false);
    while (const std::optional<signalfd_siginfo> signal = signals_->Next()) {
      const bool asks = IsRequestToEnd(static_cast<int>(signal->ssi_signo));
      if (asks && asked_ns_ == 0) asked_ns_ = MonotonicNs();
      if (SignalInbox::ShouldForward(*signal)) child_.Signal(static_cast<int>(signal->ssi_signo));
    }
  }
}

void Run::WaitForUpload() {
  const uint64_t now_ns = MonotonicNs();
  const uint64_t deadline_ns = now_ns + kFinalUploadNs;
  feed_->BeginFinalUpload(now_ns + kFinalRequestsNs);
  bool interrupted = false;
  while (!feed_->upload_ended() && !interrupted && MonotonicNs() < deadline_ns) {
    feed_->TellUploadProgress();
    WaitForEvent(/*bounded=*/true);
    // The program is gone: a signal, the interrupt key too, is for the waiting itself.
    while (const std::optional<signalfd_siginfo> signal = signals_->Next()) {
      interrupted = interrupted || signal->ssi_signo == SIGINT || signal->ssi_signo == SIGTERM ||
                    signal->ssi_signo == SIGHUP || signal->ssi_signo == SIGQUIT;
    }
  }
}

int Run::Execute() {
  ReserveStandardFds();
  Result<std::unique_ptr<SignalInbox>> signals = SignalInbox::Open();
  if (!signals.ok()) {
    Say(signals.status().message());
    return kExitFailed;
  }
  signals_ = std::move(signals.value());
  preflight_ = InspectProgram(options_.program[0]);
  Prepare();
  const int status = Start();
  if (status != kExitOk) return status;
  if (feed_.has_value()) feed_->StartUpload();
  WaitForProgram();
  if (!feed_.has_value()) return EndLike(child_.wait_status());
  // A program that was killed left a ring: its report belongs to this run, which knows its end.
  const ChildEnd end_of_program{child_.pid(), child_.wait_status(), asked_ns_};
  if (!Crashed(child_.wait_status())) ForgiveStart(directory_, child_.pid());
  (void)RecoverOrphanRings(directory_, &spool_.value(), {}, end_of_program).ok();
  feed_->Tell();
  if (feed_->uploads()) WaitForUpload();
  feed_->TellSummary(preflight_.obstacle, child_.wait_status());
  if (feed_->uploads()) feed_->TellUploadSummary();
  feed_->RemoveInstances();
  const int end = EndLike(child_.wait_status());
  // A request that is still under way must not delay the end; jankbox has nothing left to write.
  if (!feed_->upload_ended()) _exit(end);
  return end;
}

}  // namespace

int RunProgram(const RunOptions& options) { return Run(options).Execute(); }

}  // namespace jankbox::tools
