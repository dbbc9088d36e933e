#include "tools/attach/attach_command.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "base/recorded_process.h"
#include "base/scoped_fd.h"
#include "diagnosis/seal/recovery.h"
#include "sdk/api/options.h"
#include "tools/attach/attach_session.h"
#include "tools/attach/target_rights.h"
#include "tools/reports/report_folder.h"
#include "tools/run/interruption.h"
#include "tools/run/run_feed.h"
#include "tools/run/watch_defaults.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

Result<Options> RecorderOptions(const AttachOptions& options, const std::string& directory,
                                const std::string& process) {
  OptionLayers layers;
  layers.TakeEnvironment();
  layers.TakeEntries("command line",
                     WatchEntries({.directory = directory,
                                   .slow_ms = options.slow_ms,
                                   .anr_ms = options.anr_ms,
                                   .window_s = options.window_s,
                                   .min_free_mib = options.min_free_mib}),
                     &layers.pinned, &layers.suggested);
  jankbox_options fields{};
  fields.size = sizeof(fields);
  fields.app_name = process.c_str();
  Result<Options> all = ValidateOptions(&fields, layers);
  if (!all.ok()) return all;
  all->sampler_mode = StackSampler::Mode::kNoSignal;  // signals are for the process itself
  return all;
}

bool HasEnded(const ScopedFd& process) {
  pollfd event{process.get(), POLLIN, 0};
  return poll(&event, 1, 0) == 1;
}

int Fail(const std::string& why) {
  PrintError("attach: " + Printable(why));
  return kExitFailed;
}

}  // namespace

int RunAttach(const AttachOptions& options) {
  RecordedProcess::Set(options.pid);
  // First: from now on the number cannot come to mean another process unnoticed.
  ScopedFd process_fd(static_cast<int>(syscall(SYS_pidfd_open, options.pid, 0)));
  const int error = errno;
  const std::string obstacle = WhyNotAttach(ReadTargetFacts(options.pid));
  if (!obstacle.empty()) return Fail(obstacle);
  if (!process_fd.valid()) return Fail(Status::FromErrno(error, "pidfd_open").message());
  if (HasEnded(process_fd)) return Fail("process " + std::to_string(options.pid) + " has ended");
  const std::string process = NameOfProcess(options.pid);
  const std::string directory =
      AbsolutePath(options.directory.empty() ? DefaultReportDirectory() : options.directory);
  const Result<Options> recorder = RecorderOptions(options, directory, process);
  if (!recorder.ok()) return Fail(recorder.status().message());
  Result<std::unique_ptr<Interruption>> interruption = Interruption::Open();
  if (!interruption.ok()) return Fail(interruption.status().message());
  SpoolLimits limits;
  limits.min_free_bytes = recorder->min_free_bytes;
  Result<Spool> spool = Spool::Open(directory, limits);
  if (!spool.ok()) return Fail("no reports can be written: " + spool.status().message());
  (void)RecoverOrphanRings(directory, &spool.value()).ok();  // reports of others are no news
  RunFeed feed(&spool.value(), "", options.quiet, /*children=*/true, /*only=*/"");
  Result<std::unique_ptr<AttachRecording>> recording =
      AttachRecording::Start(recorder.value(), process);
  if (!recording.ok()) return Fail(recording.status().message());
  AttachSession session(options, recording->get(), &feed, interruption->get(), process,
                        std::move(process_fd));
  const Status started = session.Start();
  if (!started.ok()) return Fail(started.message());
  if (!options.quiet) {
    Say("attached to process " + std::to_string(options.pid) + " (" + Printable(process) +
        "), reports in " + Printable(directory));
  }
  const Status run = session.Run();
  recording->get()->Stop();
  feed.Tell();
  if (!options.quiet) Say("not seen: " + session.Unseen());
  feed.TellSummary("no thread waited in a loop that Jankbox knows", /*wait_status=*/0);
  return run.ok() ? kExitOk : Fail(run.message());
}

}  // namespace jankbox::tools
