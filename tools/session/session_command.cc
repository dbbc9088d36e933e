#include "tools/session/session_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/process_runner.h"
#include "base/scoped_fd.h"
#include "sdk/api/option_entries.h"
#include "tools/doctor/agent_library.h"
#include "tools/reports/report_folder.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

constexpr uint64_t kPatienceNs = 30 * kNsPerSecond;

// An error in one of these ends the session.
constexpr char kNeverRecorded[] =
    "gnome-shell,mutter,kwin_*,sway,weston,labwc,wayfire,Hyprland,river,niri,cosmic-comp,cinnamon,"
    "muffin,xfwm4,marco,openbox,i3,Xorg,Xwayland";

int Fail(const std::string& why) {
  fprintf(stderr, "jankbox: %s\n", Printable(why).c_str());
  return kExitFailed;
}

// What it printed; nullopt, and an error line, if it failed.
std::optional<std::string> Systemctl(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {"systemctl", "--user"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::string out;
  const CapturedEnd end = RunCaptured(argv, kPatienceNs, {}, [&out](std::string_view text) {
    out += text;
    return true;
  });
  if (end.how == CapturedEnd::How::kExited && end.status == 0) return out;
  std::string why = end.how == CapturedEnd::How::kNotStarted ? strerror(end.status) : end.err;
  while (!why.empty() && why.back() == '\n') why.pop_back();
  Fail("systemctl --user " + arguments[0] + " failed: " + why);
  return std::nullopt;
}

// LD_PRELOAD of the user's systemd, "" if it has none. nullopt, and an error line, if it cannot be
// read.
std::optional<std::string> ManagersPreload() {
  static constexpr std::string_view kName = "LD_PRELOAD=";
  const std::optional<std::string> environment = Systemctl({"show-environment"});
  if (!environment) return std::nullopt;
  std::string_view rest = *environment;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (!line.starts_with(kName)) continue;
    const std::string value(line.substr(kName.size()));
    if (!value.starts_with("$'")) return value;
    Fail("LD_PRELOAD of systemd --user has characters that jankbox does not take: " + value);
    return std::nullopt;
  }
  return "";
}

// While this file is there, the agents record: programs that keep the environment of an earlier
// start, and pass it on, ask for it.
std::string SwitchPath() {
  const char* runtime = getenv("XDG_RUNTIME_DIR");
  return runtime != nullptr && runtime[0] == '/' ? JoinPath(runtime, "jankbox-session") : "";
}

int Start() {
  const std::string agent = FindAgent();
  if (agent.empty()) return Fail("there is no agent: " + AgentCandidates()[0] + " does not exist");
  const std::string path = SwitchPath();
  if (path.empty()) return Fail("XDG_RUNTIME_DIR is not set: there is no session of systemd");
  const std::optional<std::string> preload = ManagersPreload();
  if (!preload) return kExitFailed;
  if (!ScopedFd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)).valid()) {
    return Fail(path + ": " + strerror(errno));
  }
  const bool done =
      Systemctl({"set-environment", "LD_PRELOAD=" + WithAgent(*preload, agent),
                 "JANKBOX_RUN_OPTIONS=dir?=" + Quoted(DefaultReportDirectory()),
                 "JANKBOX_RUN_AGENT=switch=" + Quoted(path) + ",except=" + Quoted(kNeverRecorded)})
          .has_value();
  if (!done) unlink(path.c_str());
  return done ? kExitOk : kExitFailed;
}

int Stop() {
  const std::string path = SwitchPath();
  if (!path.empty()) unlink(path.c_str());
  const std::optional<std::string> preload = ManagersPreload();
  if (!preload) return kExitFailed;
  const std::string rest = WithoutAgent(*preload);
  if (!rest.empty() && !Systemctl({"set-environment", "LD_PRELOAD=" + rest})) return kExitFailed;
  std::vector<std::string> gone = {"unset-environment", "JANKBOX_RUN_OPTIONS", "JANKBOX_RUN_AGENT"};
  if (rest.empty()) gone.emplace_back("LD_PRELOAD");
  return Systemctl(gone) ? kExitOk : kExitFailed;
}

int Status() {
  const std::optional<std::string> preload = ManagersPreload();
  if (!preload) return kExitFailed;
  const bool on = WithoutAgent(*preload) != *preload && access(SwitchPath().c_str(), F_OK) == 0;
  if (on) {
    printf("on: programs with a UI that start from now on are recorded; jankbox list\n");
  } else {
    printf("off: systemctl --user enable --now jankbox-session\n");
  }
  return on ? kExitOk : kExitFailed;
}

}  // namespace

int RunSession(const SessionOptions& options) {
  if (options.action == "start") return Start();
  return options.action == "stop" ? Stop() : Status();
}

}  // namespace jankbox::tools
