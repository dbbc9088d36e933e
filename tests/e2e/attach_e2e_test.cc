// `jankbox attach` on programs that run already and know nothing of Jankbox: a planted stall is
// reported with its cause and its function at each level of rights, and nothing remains after.
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/file.h"
#include "base/scoped_fd.h"
#include "tests/e2e/run_program.h"

namespace jankbox {
namespace {

using testing::HasSubstr;

constexpr char kOtherUser[] = "65534";  // nobody

// kRoot: all that there is. kUser: an ordinary user, of its own process. kNoBreakpoints: another
// tool has all of the processor's breakpoints.
enum class Level { kRoot, kUser, kNoBreakpoints };

struct Case {
  std::string kind = "busy";  // of the stall
  Level level = Level::kRoot;
  std::string loop = "glib";  // empty: GLib's first, and then its own
  std::string function = "planted_";
  std::string thread = "main";
};

std::string Slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// As many breakpoints on instructions as the thread can still have.
std::vector<ScopedFd> TakeBreakpoints(pid_t tid) {
  std::vector<ScopedFd> taken;
  for (uint64_t i = 0; i < 64; ++i) {
    perf_event_attr attributes = {};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_BREAKPOINT;
    attributes.bp_type = HW_BREAKPOINT_X;
    attributes.bp_addr = 0x1000 + 16 * i;
    attributes.bp_len = sizeof(long);
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    ScopedFd event(static_cast<int>(
        syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
    if (!event.valid()) break;
    taken.push_back(std::move(event));
  }
  return taken;
}

// What of a process an observer must not change: its code, and what is mapped as code.
std::string CodeOf(pid_t pid) {
  std::string code;
  const std::string folder = "/proc/" + std::to_string(pid);
  std::ifstream maps(folder + "/maps");
  std::ifstream memory(folder + "/mem", std::ios::binary);
  for (std::string line; std::getline(maps, line);) {
    unsigned long long start = 0, end = 0;
    char permissions[5] = {};
    if (sscanf(line.c_str(), "%llx-%llx %4s", &start, &end, permissions) != 3) continue;
    if (permissions[2] != 'x' || line.find('/') == std::string::npos) continue;
    std::string bytes(end - start, '\0');
    memory.clear();
    memory.seekg(static_cast<std::streamoff>(start));
    memory.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    code += line + std::to_string(std::hash<std::string>()(bytes)) + "\n";
  }
  return code;
}

std::string FieldOf(pid_t pid, const std::string& label) {
  const std::string status = Slurp("/proc/" + std::to_string(pid) + "/status");
  const size_t at = status.find("\n" + label + ":");
  return at == std::string::npos ? "" : status.substr(at + 1, status.find('\n', at + 1) - at - 1);
}

class AttachTest : public EndToEndTest {
 protected:
  // `argv` as a program of that level is started.
  std::vector<std::string> AsLevel(Level level, std::vector<std::string> argv) const {
    if (level == Level::kUser && geteuid() == 0) {
      const std::string id = kOtherUser;
      argv.insert(argv.begin(),
                  {"setpriv", "--reuid=" + id, "--regid=" + id, "--clear-groups", "--"});
    }
    return argv;
  }

  // Why the level cannot be tried here; "" if it can.
  std::string Obstacle(Level level) {
    if (level == Level::kRoot && geteuid() != 0) return "this test does not run as root";
    if (level != Level::kUser || geteuid() != 0) return "";
    // Folders that the other user may use.
    chmod(root_.c_str(), 0755);
    if (RunProgram(AsLevel(level, {"test", "-x", Binary("jankbox")})).exit_status != 0) {
      return "another user may not run " + Binary("jankbox");
    }
    return "";
  }

  std::string NewFolder(const std::string& name) {
    mkdir(Folder(name).c_str(), 0755);
    chmod(Folder(name).c_str(), 0777);
    return Folder(name);
  }

  // Starts `jankbox attach` on `pid`, with its lines on stdout.
  std::unique_ptr<Program> Attach(Level level, pid_t pid, const std::vector<std::string>& more) {
    std::vector<std::string> argv = {"sh",
                                     "-c",
                                     "exec \"$@\" 2>&1",
                                     "sh",
                                     Binary("jankbox"),
                                     "attach",
                                     "--slow-ms",
                                     "400",
                                     "--dir",
                                     NewFolder("reports"),
                                     std::to_string(pid)};
    argv.insert(argv.end(), more.begin(), more.end());
    return std::make_unique<Program>(AsLevel(level, argv),
                                     Environment{{"XDG_RUNTIME_DIR", Folder("runtime")}});
  }

  // The report about the stall that took `stall_ms`.
  void ExpectStall(const Case& wanted, double stall_ms, const std::string& lines) {
    const std::vector<proto::Report> reports = Reports(Folder("reports"));
    const auto names = [&](const proto::Report& report) {
      // A stall without the CPU, while the watcher got none either, and said so.
      const bool starved = std::any_of(
          report.notes().begin(), report.notes().end(),
          [](const std::string& note) { return note.find("got no CPU for") != std::string::npos; });
      if (report.top_frames().empty() && starved) {
        return static_cast<double>(report.duration_ns()) / 1e6 >= 0.95 * stall_ms;
      }
      return std::any_of(report.top_frames().begin(), report.top_frames().end(),
                         [&](const proto::Frame& frame) {
                           return frame.function().find(wanted.function) != std::string::npos;
                         });
    };
    const auto report = std::find_if(reports.begin(), reports.end(), names);
    ASSERT_NE(report, reports.end()) << reports.size() << " reports:\n" << lines;
    const double told_ms = static_cast<double>(report->duration_ns()) / 1e6;
    // Without breakpoints a block that no look saw, of a page fault for example, may end it.
    EXPECT_GE(told_ms, (wanted.level == Level::kNoBreakpoints ? 0.5 : 0.95) * stall_ms) << lines;
    // Without breakpoints what the loop does before, without a wait of 10 ms, belongs to it.
    EXPECT_LE(told_ms, 1.05 * stall_ms + (wanted.level == Level::kNoBreakpoints ? 300 : 50))
        << lines;
    EXPECT_TRUE(wanted.loop.empty() || report->loop() == wanted.loop) << report->loop();
    EXPECT_EQ(report->pid(), target_pid_);
    ExpectCause(wanted.kind, report->verdict());
    EXPECT_GT(report->history().count(), 0u);
    EXPECT_THAT(std::vector<std::string>(report->notes().begin(), report->notes().end()),
                testing::Contains(HasSubstr("from outside by jankbox attach")));
  }

  static void ExpectCause(const std::string& kind, const proto::Verdict& verdict) {
    const uint64_t most = Sum(verdict) / 10 * 8;
    if (kind == "sleep") {
      EXPECT_GT(verdict.sleeping_ns() + verdict.runnable_ns(), most) << verdict.ShortDebugString();
      EXPECT_GT(verdict.sleeping_ns(), most / 2) << verdict.ShortDebugString();
    } else if (kind == "read") {
      EXPECT_GT(verdict.ipc_ns() + verdict.blocked_ns(), most) << verdict.ShortDebugString();
    } else {
      EXPECT_GT(verdict.running_ns() + verdict.runnable_ns(), most) << verdict.ShortDebugString();
    }
  }

  // `target` says "ready", stalls at `signal` and says "stall_ms=…".
  void ExpectReport(Program* target, const Case& wanted, int signal,
                    const std::vector<std::string>& more = {}) {
    target_pid_ = target->pid();
    ASSERT_TRUE(target->WaitForOutput("ready", 30000)) << target->Output();
    const std::string code = CodeOf(target_pid_);
    std::vector<ScopedFd> taken = TakeBreakpoints(target_pid_);
    const size_t breakpoints = taken.size();
    if (wanted.level != Level::kNoBreakpoints) taken.clear();
    std::unique_ptr<Program> attach = Attach(wanted.level, target_pid_, more);
    if (!attach->WaitForOutput("watching " + wanted.thread, 30000)) {
      const Outcome end = attach->Wait(1000);
      if (end.out.find("does not permit perf") != std::string::npos ||
          end.out.find("kernel.") != std::string::npos) {
        GTEST_SKIP() << end.out;
      }
      FAIL() << end.out;
    }
    EXPECT_EQ(FieldOf(target_pid_, "TracerPid"), "TracerPid:\t0");
    EXPECT_EQ(CodeOf(target_pid_), code);
    usleep(300'000);  // for some messages before
    target->Signal(signal);
    ASSERT_TRUE(target->WaitForOutput("stall_ms=", 30000));
    usleep(500'000);  // the loop goes on
    attach->Signal(SIGINT);
    const Outcome end = attach->Wait(30000);
    EXPECT_EQ(end.exit_status, 0) << end.out;
    EXPECT_THAT(end.out, HasSubstr("watched: "));
    EXPECT_THAT(end.out, HasSubstr("not seen: methods"));
    const std::string out = target->Output();
    ExpectStall(wanted, std::stod(out.substr(out.find("stall_ms=") + strlen("stall_ms="))),
                end.out);
    ExpectNothingRemains(attach->pid(), code);
    if (wanted.level != Level::kNoBreakpoints) {
      EXPECT_EQ(TakeBreakpoints(target_pid_).size(), breakpoints);
    }
    target->Signal(SIGKILL);
  }

  void ExpectNothingRemains(pid_t attach, const std::string& code) {
    EXPECT_EQ(CodeOf(target_pid_), code);
    EXPECT_EQ(FieldOf(target_pid_, "TracerPid"), "TracerPid:\t0");
    for (const char* tracefs :
         {"/sys/kernel/tracing/instances", "/sys/kernel/debug/tracing/instances"}) {
      const Result<std::vector<std::string>> instances = ListDirectory(tracefs);
      if (!instances.ok()) continue;
      for (const std::string& name : instances.value()) {
        EXPECT_NE(name.find("jankbox-" + std::to_string(attach) + "-"), 0u) << name;
      }
    }
    EXPECT_FALSE(ListDirectory(Folder("runtime")).ok());  // no ring was ever there
  }

  void ExpectReportOnDisplay(const std::string& name, Case wanted, Environment environment = {}) {
    if (access(Binary(name).c_str(), X_OK) != 0) GTEST_SKIP() << name << " is not built";
    if (!StartDisplay(&environment)) GTEST_SKIP() << "Xvfb does not run: ./dev setup";
    const std::string obstacle = Obstacle(wanted.level);
    if (!obstacle.empty()) GTEST_SKIP() << obstacle;
    environment["PLANTED_STALL"] = wanted.kind;
    environment["XDG_RUNTIME_DIR"] = NewFolder("display");
    Program target(AsLevel(wanted.level, {Binary(name)}), environment);
    ExpectReport(&target, wanted, SIGUSR1);
  }

  pid_t target_pid_ = 0;
};

TEST_F(AttachTest, GtkThatComputes) { ExpectReportOnDisplay("gtk_stall", {}); }
TEST_F(AttachTest, GtkThatSleeps) { ExpectReportOnDisplay("gtk_stall", {.kind = "sleep"}); }
TEST_F(AttachTest, GtkThatReadsFromAStoppedChild) {
  ExpectReportOnDisplay("gtk_stall", {.kind = "read"});
}
TEST_F(AttachTest, GtkThatComputesOfAnOrdinaryUser) {
  ExpectReportOnDisplay("gtk_stall", {.level = Level::kUser});
}
TEST_F(AttachTest, GtkThatSleepsOfAnOrdinaryUser) {
  ExpectReportOnDisplay("gtk_stall", {.kind = "sleep", .level = Level::kUser});
}
TEST_F(AttachTest, GtkThatReadsOfAnOrdinaryUser) {
  ExpectReportOnDisplay("gtk_stall", {.kind = "read", .level = Level::kUser});
}
TEST_F(AttachTest, GtkThatComputesWithoutBreakpoints) {
  ExpectReportOnDisplay("gtk_stall", {.level = Level::kNoBreakpoints});
}
TEST_F(AttachTest, GtkThatSleepsWithoutBreakpoints) {
  ExpectReportOnDisplay("gtk_stall", {.kind = "sleep", .level = Level::kNoBreakpoints});
}
TEST_F(AttachTest, GtkThatReadsWithoutBreakpoints) {
  ExpectReportOnDisplay("gtk_stall", {.kind = "read", .level = Level::kNoBreakpoints});
}

TEST_F(AttachTest, QtInGlib) { ExpectReportOnDisplay("qt_stall", {.loop = "qt"}); }
TEST_F(AttachTest, QtWithoutGlib) {
  ExpectReportOnDisplay("qt_stall", {.loop = "qt"}, {{"QT_NO_GLIB", "1"}});
}
TEST_F(AttachTest, QtOfAnOrdinaryUser) {
  ExpectReportOnDisplay("qt_stall", {.kind = "sleep", .level = Level::kUser, .loop = "qt"});
}

TEST_F(AttachTest, LoopOfANamedThread) {
  Program target({Binary("worker_stall")}, {{"PLANTED_STALL", "busy"}});
  ExpectReport(&target, {.thread = "render"}, SIGUSR1, {"--thread", "ren*"});
  const std::vector<proto::Report> reports = Reports(Folder("reports"));
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().thread(), "render");
  EXPECT_NE(reports.back().tid(), reports.back().pid());
}

class AttachToNodeTest : public AttachTest, public testing::WithParamInterface<Level> {};

TEST_P(AttachToNodeTest, InANativeFunction) {
  if (RunProgram({"node", "--version"}).exit_status != 0) {
    GTEST_SKIP() << "Node.js is not installed: ./dev setup";
  }
  const std::string obstacle = Obstacle(GetParam());
  if (!obstacle.empty()) GTEST_SKIP() << obstacle;
  Program target(AsLevel(GetParam(), {"node", "-e",
                                      "setInterval(() => {}, 50);"
                                      "process.on('SIGUSR2', function stall() {"
                                      "  const begin = performance.now();"
                                      "  while (performance.now() - begin < 800) {"
                                      "    require('crypto').scryptSync('a', 'b', 64, {N: 1024});"
                                      "  }"
                                      "  console.log('stall_ms=' + (performance.now() - begin));"
                                      "});"
                                      "setTimeout(() => console.log('ready'), 100);"}));
  ExpectReport(&target, {.level = GetParam(), .loop = "libuv", .function = "scrypt"}, SIGUSR2);
}

INSTANTIATE_TEST_SUITE_P(Levels, AttachToNodeTest,
                         testing::Values(Level::kRoot, Level::kUser, Level::kNoBreakpoints));

TEST_F(AttachTest, Emacs) {
  Environment environment;
  if (RunProgram({"sh", "-c", "command -v emacs"}).exit_status != 0) {
    GTEST_SKIP() << "Emacs is not installed: ./dev setup";
  }
  if (!StartDisplay(&environment)) GTEST_SKIP() << "Xvfb does not run: ./dev setup";
  const std::string obstacle = Obstacle(Level::kRoot);
  if (!obstacle.empty()) GTEST_SKIP() << obstacle;
  environment["XDG_RUNTIME_DIR"] = NewFolder("display");
  const std::string say = "(lambda (text) (write-region text nil \"/dev/stdout\" t 'quiet))";
  Program target({"emacs", "-Q", "--eval",
                  "(let ((say " + say +
                      "))"
                      " (define-key special-event-map [sigusr1] (lambda () (interactive)"
                      "  (let ((begin (float-time)))"
                      "   (while (< (- (float-time) begin) 0.8) (sort (make-list 20000 1) '<))"
                      "   (funcall " +
                      say +
                      " (format \"stall_ms=%f\\n\" (* 1000 (- (float-time) begin)))))))"
                      " (run-with-timer 0.05 0.05 (lambda () nil))"
                      " (run-with-timer 1 nil (lambda () (funcall " +
                      say + " \"ready\\n\"))))"},
                 environment);
  ExpectReport(&target, {.loop = "", .function = "command_execute"}, SIGUSR1);
}

TEST_F(AttachTest, WatchEndsWithItsTimeAndWithTheProcess) {
  Program target({Binary("worker_stall")}, {{"PLANTED_STALL", "busy"}});
  ASSERT_TRUE(target.WaitForOutput("ready", 30000));
  std::unique_ptr<Program> attach = Attach(Level::kNoBreakpoints, target.pid(), {"--for", "0.5"});
  Outcome end = attach->Wait(30000);
  if (end.out.find("attached to") == std::string::npos) GTEST_SKIP() << end.out;
  EXPECT_EQ(end.exit_status, 0) << end.out;
  attach = Attach(Level::kNoBreakpoints, target.pid(), {});
  ASSERT_TRUE(attach->WaitForOutput("watching main (glib)", 30000));
  target.Signal(SIGKILL);
  end = attach->Wait(30000);
  EXPECT_EQ(end.exit_status, 0) << end.out;
  EXPECT_THAT(end.out, HasSubstr("watched: main (glib)"));
}

// The loop waits 20 ms at a time until SIGUSR1, and then does `after`, which has no loop.
std::vector<std::string> PythonLoop(const std::string& after) {
  return {"python3", "-u", "-c",
          "import ctypes, os, select, signal, threading, time\n"
          "asked = []\n"
          "signal.signal(signal.SIGUSR1, lambda number, frame: asked.append(1))\n"
          "waits = select.epoll()\n"
          "print('ready')\n"
          "while not asked: waits.poll(0.02)\n" +
              after};
}

class AttachedProgramTest : public AttachTest {
 protected:
  // Nothing that follows its loop is a message, and waiting for it costs no CPU.
  void ExpectNoReport(const std::string& after, const std::string& name) {
    if (RunProgram({"python3", "--version"}).exit_status != 0) {
      GTEST_SKIP() << "Python is not installed: ./dev setup";
    }
    Program target(PythonLoop(after));
    ASSERT_TRUE(target.WaitForOutput("ready", 30000)) << target.Output();
    std::unique_ptr<Program> attach =
        Attach(Level::kNoBreakpoints, target.pid(), {"--anr-ms", "1500"});
    if (!attach->WaitForOutput("watching main (epoll", 30000)) {
      GTEST_SKIP() << attach->Wait(1000).out;
    }
    target.Signal(SIGUSR1);
    ASSERT_TRUE(WaitForName(target.pid(), name));
    usleep(4'000'000);
    EXPECT_LT(CpuMs(attach->pid()), 2000);
    attach->Signal(SIGINT);
    const Outcome end = attach->Wait(30000);
    EXPECT_EQ(end.exit_status, 0) << end.out;
    EXPECT_THAT(end.out, HasSubstr("watched: main (epoll"));
    EXPECT_THAT(end.out, testing::Not(HasSubstr("ANR")));
    EXPECT_EQ(Reports(Folder("reports")).size(), 0u) << end.out;
    target.Signal(SIGKILL);
  }

  static bool WaitForName(pid_t pid, const std::string& name) {
    for (int i = 0; i < 3000; ++i) {
      if (Slurp("/proc/" + std::to_string(pid) + "/comm") == name + "\n") return true;
      usleep(10'000);
    }
    return false;
  }

  static double CpuMs(pid_t pid) {
    const std::string stat = Slurp("/proc/" + std::to_string(pid) + "/stat");
    unsigned long user = 0, system = 0;
    sscanf(stat.c_str() + stat.rfind(')') + 1,
           " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
    return 1000.0 * static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
};

TEST_F(AttachedProgramTest, RunsAnotherOne) {
  ExpectNoReport("os.execvp('sleep', ['sleep', '1000'])", "sleep");
}

TEST_F(AttachedProgramTest, RunsAnotherOneFromAnotherThread) {
  ExpectNoReport(
      "threading.Thread(target=lambda: os.execvp('sleep', ['sleep', '1000'])).start()\n"
      "waits.poll()",
      "sleep");
}

TEST_F(AttachedProgramTest, EndsItsMainThreadAndGoesOn) {
  ExpectNoReport(
      "threading.Thread(target=lambda: time.sleep(1000)).start()\n"
      "open('/proc/self/comm', 'w').write('on')\n"
      "exit_thread = ctypes.CDLL(None).syscall\n"
      "exit_thread(" +
          std::to_string(SYS_exit) + ", 0)",
      "on");
}

TEST_F(AttachTest, ProcessThatCannotBeWatchedIsNamedWithTheReason) {
  const auto refusal = [&](const std::string& pid, Level level = Level::kNoBreakpoints,
                           const std::string& thread = "*") {
    const Outcome end =
        RunProgram(AsLevel(level, {Binary("jankbox"), "attach", pid, "--thread", thread, "--dir",
                                   NewFolder("refused"), "--for", "1"}));
    EXPECT_EQ(end.exit_status, 1) << end.err;
    EXPECT_EQ(end.out, "");
    return end.err;
  };
  EXPECT_EQ(refusal("1073741823"), "jankbox: attach: there is no process 1073741823\n");
  Program linked({Binary("worker_stall_linked")},
                 {{"PLANTED_STALL", "busy"}, {"JANKBOX_DIR", NewFolder("linked")}});
  ASSERT_TRUE(linked.WaitForOutput("ready", 30000));
  EXPECT_THAT(refusal(std::to_string(linked.pid())),
              HasSubstr("runs with Jankbox already (libjankbox"));
  for (const std::string& tid :
       ListDirectory("/proc/" + std::to_string(linked.pid()) + "/task").value()) {
    if (tid == std::to_string(linked.pid())) continue;
    EXPECT_THAT(refusal(tid), HasSubstr(tid + " is a thread of process " +
                                        std::to_string(linked.pid()) + ": jankbox attach "));
    break;
  }
  Program other({Binary("worker_stall")}, {{"PLANTED_STALL", "busy"}});
  ASSERT_TRUE(other.WaitForOutput("ready", 30000));
  EXPECT_EQ(refusal(std::to_string(other.pid()), Level::kNoBreakpoints, "1"),
            "jankbox: attach: process " + std::to_string(other.pid()) + " has no thread 1\n");
  if (geteuid() != 0 || !Obstacle(Level::kUser).empty()) return;
  EXPECT_EQ(refusal(std::to_string(getpid()), Level::kUser),
            "jankbox: attach: process " + std::to_string(getpid()) +
                " belongs to root: run jankbox as root\n");
}

}  // namespace
}  // namespace jankbox
