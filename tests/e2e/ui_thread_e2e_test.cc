// Programs whose UI thread is not the main one: it is found by what it does, and watched. And
// threads that wait for a display without being one.
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/file.h"
#include "tests/e2e/run_program.h"

namespace jankbox {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class UiThreadTest : public EndToEndTest {
 protected:
  // Why `binary` cannot be tried here; empty if it can.
  std::string WhyNot(const std::string& binary) {
    // A preloaded sanitizer intercepts waits: the agent sees its calls instead of the program's.
    if (getenv("JANKBOX_TEST_PRELOAD") != nullptr) return "the sanitizer waits in its place";
    if (access(Binary(binary).c_str(), X_OK) != 0) return binary + " is not built: ./dev setup";
    return StartDisplay(&environment_) ? "" : "Xvfb does not run: ./dev setup";
  }

  std::vector<std::string> UnderJankbox(const std::vector<std::string>& program) {
    std::vector<std::string> argv = {Binary("jankbox"), "run",           "--slow-ms", "700",
                                     "--dir",           Folder("spool"), "--"};
    argv.insert(argv.end(), program.begin(), program.end());
    return argv;
  }
  Outcome Run(const std::vector<std::string>& program) {
    return RunProgram(UnderJankbox(program), environment_, 60000);
  }

  // The only child of `jankbox run`, once a thread of the recorder watches it; 0: it does not.
  static pid_t WatchedChild(pid_t run) {
    const std::string children =
        "/proc/" + std::to_string(run) + "/task/" + std::to_string(run) + "/children";
    for (int i = 0; i < 1000; ++i) {
      const pid_t child = atoi(ReadProcFile(children, 32).c_str());
      const std::string tasks = "/proc/" + std::to_string(child) + "/task";
      const Result<std::vector<std::string>> tids = ListDirectory(tasks);
      for (const std::string& tid : tids.ok() ? tids.value() : std::vector<std::string>()) {
        if (ReadProcFile(tasks + "/" + tid + "/comm", 32) == "jankbox-watch\n") return child;
      }
      usleep(20'000);
    }
    return 0;
  }

  // Runs `program` until it is watched and for two seconds more, in which it only ticks. If
  // `stalls`, it is asked to stall then. Ends it by a signal.
  Outcome RunUntilWatched(const std::vector<std::string>& program, bool stalls) {
    environment_["PLANTED_STALL"] = "busy";  // when it gets a signal
    Program run(UnderJankbox(program), environment_);
    EXPECT_TRUE(run.WaitForOutput("ready", 30000));
    const pid_t child = WatchedChild(run.pid());
    EXPECT_NE(child, 0);
    usleep(2'000'000);
    if (child != 0 && stalls) {
      kill(child, SIGUSR1);
      EXPECT_TRUE(run.WaitForOutput("stall_ms=", 30000));
      usleep(500'000);  // a wait of the loop ends the message
    }
    if (child != 0) kill(child, SIGHUP);  // SDL takes SIGTERM for an event
    return run.Wait(30000);
  }

  static bool Names(const proto::Report& report, const std::string& function) {
    return std::any_of(report.top_frames().begin(), report.top_frames().end(),
                       [&](const proto::Frame& frame) {
                         return frame.function().find(function) != std::string::npos;
                       });
  }

  static bool IsOfStall(const proto::Report& report, const std::string& function) {
    return report.duration_ns() >= 790 * kNsPerMs && Names(report, function);
  }

  // All reports but those of messages that only an overloaded machine made slow.
  std::vector<proto::Report> ReportsOfProgram(const std::string& function = "planted_stall") {
    std::vector<proto::Report> reports = Reports(Folder("spool"));
    std::erase_if(reports, [&](const proto::Report& report) {
      return !IsOfStall(report, function) &&
             report.verdict().runnable_ns() > report.duration_ns() / 2;
    });
    return reports;
  }

  // The stall is the only incident of a program that ticks before it.
  void ExpectTheStallOnThread(const std::vector<std::string>& program, const std::string& loop,
                              const std::string& sign,
                              const std::string& function = "planted_stall") {
    const Outcome run = RunUntilWatched(program, /*stalls=*/true);
    EXPECT_THAT(run.err, HasSubstr("watched: ui (" + loop + ", UI thread by its " + sign + ")"));
    const std::vector<proto::Report> reports = ReportsOfProgram(function);
    ASSERT_EQ(reports.size(), 1u) << run.err;
    EXPECT_EQ(reports[0].thread(), "ui");
    EXPECT_NE(reports[0].tid(), reports[0].pid());
    EXPECT_EQ(reports[0].loop(), loop);
    EXPECT_EQ(reports[0].kind(), proto::SLOW_MESSAGE);
    EXPECT_TRUE(IsOfStall(reports[0], function)) << reports[0].ShortDebugString();
  }

  Environment environment_;
};

TEST_F(UiThreadTest, GtkIsFoundByItsConnection) {
  if (const std::string why = WhyNot("gtk_thread"); !why.empty()) GTEST_SKIP() << why;
  ExpectTheStallOnThread({Binary("gtk_thread")}, "glib", "X connection");
}

TEST_F(UiThreadTest, QtIsFoundByItsLoop) {
  if (const std::string why = WhyNot("qt_thread"); !why.empty()) GTEST_SKIP() << why;
  ExpectTheStallOnThread({Binary("qt_thread")}, "qt", "Qt loop");
}

TEST_F(UiThreadTest, QtWithoutGlibIsFoundByItsLoop) {
  if (const std::string why = WhyNot("qt_thread"); !why.empty()) GTEST_SKIP() << why;
  environment_["QT_NO_GLIB"] = "1";
  ExpectTheStallOnThread({Binary("qt_thread")}, "qt", "Qt loop");
}

TEST_F(UiThreadTest, SdlIsFoundByItsEvents) {
  if (const std::string why = WhyNot("sdl_thread"); !why.empty()) GTEST_SKIP() << why;
  ExpectTheStallOnThread({Binary("sdl_thread"), "delay"}, "sdl", "SDL events");
}

TEST_F(UiThreadTest, LoopOfTheProgramItselfIsFoundByItsConnection) {
  if (const std::string why = WhyNot("x_thread"); !why.empty()) GTEST_SKIP() << why;
  ExpectTheStallOnThread({Binary("x_thread")}, "poll", "X connection");
}

TEST_F(UiThreadTest, TkIsFoundByTheEventsOfTcl) {
  if (const std::string why = WhyNot("jankbox"); !why.empty()) GTEST_SKIP() << why;
  if (RunProgram({"python3", "-c", "import tkinter"}).exit_status != 0) {
    GTEST_SKIP() << "python3-tk is not installed: ./dev setup";
  }
  // Python ends with an error if the main thread deletes what Tk's thread has made.
  const std::string script = R"(
import ctypes, signal, threading, time, tkinter
asked = False
def ask(*unused):
  global asked
  asked = True
def tick():
  global asked
  if asked:
    asked = False
    begin = time.monotonic()
    while time.monotonic() - begin < 0.8: pass
    print('stall_ms=%.3f' % (1e3 * (time.monotonic() - begin)), flush=True)
  root.after(50, tick)
def ui():
  global root
  ctypes.CDLL(None).prctl(15, b'ui', 0, 0, 0)
  root = tkinter.Tk()
  tick()
  print('ready', flush=True)
  root.mainloop()
signal.signal(signal.SIGUSR1, ask)
threading.Thread(target=ui, daemon=True).start()
while True: time.sleep(0.05)
)";
  ExpectTheStallOnThread({"python3", "-c", script}, "tcl", "Tcl events", "");  // Python's
}

TEST_F(UiThreadTest, IdleThreadRaisesNothing) {
  if (const std::string why = WhyNot("gtk_thread"); !why.empty()) GTEST_SKIP() << why;
  const Outcome run = RunUntilWatched({Binary("gtk_thread")}, /*stalls=*/false);
  EXPECT_THAT(run.err, HasSubstr("watched: ui (glib, UI thread by its X connection)"));
  EXPECT_TRUE(ReportsOfProgram().empty()) << run.err;
}

TEST_F(UiThreadTest, ThreadThatReadsEventsForQtIsNone) {
  if (const std::string why = WhyNot("qt_stall"); !why.empty()) GTEST_SKIP() << why;
  const Outcome run = Run({Binary("qt_stall")});
  EXPECT_THAT(run.err, HasSubstr("watched: main (qt), "));
  EXPECT_THAT(run.err, Not(HasSubstr("UI thread by")));
}

TEST_F(UiThreadTest, ThreadWithAConnectionBesideTheUiIsNone) {
  if (const std::string why = WhyNot("display_threads"); !why.empty()) GTEST_SKIP() << why;
  const Outcome run = Run({Binary("display_threads"), "beside"});
  EXPECT_THAT(run.out, HasSubstr("stall_ms="));
  EXPECT_THAT(run.err, HasSubstr("watched: main (glib), "));
  EXPECT_THAT(run.err, Not(HasSubstr("helper")));
  EXPECT_TRUE(ReportsOfProgram().empty()) << run.err;
}

TEST_F(UiThreadTest, ThreadThatOnlyReadsAConnectionIsNone) {
  if (const std::string why = WhyNot("display_threads"); !why.empty()) GTEST_SKIP() << why;
  const Outcome run = Run({Binary("display_threads"), "reader"});
  EXPECT_THAT(run.out, HasSubstr("stall_ms="));
  EXPECT_THAT(run.err, HasSubstr("nothing was watched"));
}

}  // namespace
}  // namespace jankbox
