// Programs with the loops that UI programs have, each with one planted stall: exactly one incident,
// under the loop's name, as long as the stall was, with the function that stalled on its stack.
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "tests/e2e/run_program.h"

namespace jankbox {
namespace {

struct LoopProgram {
  std::vector<std::string> argv;
  std::string loop;  // what reports call it
  Environment environment;
  std::string function = "planted_stall";
  std::string thread;  // empty: the main one
};

class LoopProgramsTest : public EndToEndTest {
 protected:
  // A preloaded sanitizer intercepts waits: the agent sees its calls instead of the program's.
  static bool SanitizerStandsBetween() { return getenv("JANKBOX_TEST_PRELOAD") != nullptr; }
  static bool IsBuilt(const std::string& name) { return access(Binary(name).c_str(), X_OK) == 0; }

  // What is wrong with one run of `program`; empty if all is well. On a busy machine the start
  // of a program may be an incident of its own, and a stall end late: the best of three counts.
  std::string Judge(const Outcome& run, const LoopProgram& program, const std::string& folder) {
    const std::vector<proto::Report> reports = Reports(folder);
    const size_t stall = run.out.find("stall_ms=");
    const size_t message = run.out.find("message_ms=");  // if the loop does more in that turn
    const size_t at = message != std::string::npos ? message : stall;
    if (run.exit_status != 0 || at == std::string::npos) {
      return "the program failed: " + std::to_string(run.exit_status) + " " + run.out + run.err;
    }
    if (reports.size() != 1) {
      std::string all = std::to_string(reports.size()) + " incidents: ";
      for (const proto::Report& report : reports) all += report.ShortDebugString() + "\n";
      return all + run.err;
    }
    const proto::Report& report = reports[0];
    const double stall_ms = std::stod(run.out.substr(run.out.find('=', at) + 1));
    const double told_ms = static_cast<double>(report.duration_ns()) / 1e6;
    const bool named = std::any_of(
        report.top_frames().begin(), report.top_frames().end(), [&](const proto::Frame& frame) {
          return frame.function().find(program.function) != std::string::npos;
        });
    std::string wrong;
    if (report.kind() != proto::SLOW_MESSAGE) wrong += "it is no slow message; ";
    if (!program.thread.empty() ? report.thread() != program.thread
                                : report.tid() != report.pid()) {
      wrong += "it is of thread " + report.thread() + "; ";
    }
    if (report.loop() != program.loop) wrong += "the loop is called " + report.loop() + "; ";
    if (std::abs(told_ms - stall_ms) > 0.05 * stall_ms) {
      wrong += std::to_string(told_ms) + " ms instead of " + std::to_string(stall_ms) + "; ";
    }
    if (report.history().count() == 0 || report.history().last_size() == 0) {
      wrong += "nothing is told of the messages before; ";
    }
    if (!named) wrong += "the stack does not name " + program.function + "; ";
    return wrong.empty() ? "" : wrong + report.ShortDebugString();
  }

  void ExpectOneIncident(const LoopProgram& program, bool agent) {
    std::string wrong;
    for (int attempt = 0; attempt < 3; ++attempt) {
      const std::string folder = Folder("spool" + std::to_string(attempt));
      // GTK, Qt and what draws for SDL leave memory to the system at their end.
      Environment environment =
          agent ? ForeignEnvironment() : Environment{{"ASAN_OPTIONS", "detect_leaks=0"}};
      environment.insert(program.environment.begin(), program.environment.end());
      std::vector<std::string> argv;
      if (agent) argv = {Binary("jankbox"), "run", "--slow-ms", "700", "--dir", folder, "--"};
      environment["JANKBOX_DIR"] = folder;
      argv.insert(argv.end(), program.argv.begin(), program.argv.end());
      wrong = Judge(RunProgram(argv, environment, 30000), program, folder);
      if (wrong.empty()) return;
      fprintf(stderr, "attempt %d: %s\n", attempt + 1, wrong.c_str());
    }
    ADD_FAILURE() << wrong;
  }

  // `name` and `name`_linked, with a display.
  void ExpectOneIncidentOnDisplay(const std::string& name,
                                  const std::vector<std::string>& arguments,
                                  const std::string& loop, const Environment& more, bool agent) {
    const std::string binary = agent ? name : name + "_linked";
    if (agent && SanitizerStandsBetween()) {
      GTEST_SKIP() << "the preloaded sanitizer waits in the program's place";
    }
    if (!IsBuilt(binary)) GTEST_SKIP() << binary << " is not built: ./dev setup";
    LoopProgram program = {.argv = {Binary(binary)}, .loop = loop, .environment = more};
    program.argv.insert(program.argv.end(), arguments.begin(), arguments.end());
    if (!StartDisplay(&program.environment)) GTEST_SKIP() << "Xvfb does not run: ./dev setup";
    ExpectOneIncident(program, agent);
  }
};

TEST_F(LoopProgramsTest, Gtk) { ExpectOneIncidentOnDisplay("gtk_stall", {}, "glib", {}, true); }
TEST_F(LoopProgramsTest, GtkLinked) {
  ExpectOneIncidentOnDisplay("gtk_stall", {}, "glib", {}, false);
}

TEST_F(LoopProgramsTest, QtInGlib) { ExpectOneIncidentOnDisplay("qt_stall", {}, "qt", {}, true); }
TEST_F(LoopProgramsTest, QtWithoutGlib) {
  ExpectOneIncidentOnDisplay("qt_stall", {}, "qt", {{"QT_NO_GLIB", "1"}}, true);
}
TEST_F(LoopProgramsTest, QtLinked) { ExpectOneIncidentOnDisplay("qt_stall", {}, "qt", {}, false); }

TEST_F(LoopProgramsTest, SdlThatWaits) {
  ExpectOneIncidentOnDisplay("sdl_stall", {"wait"}, "sdl", {}, true);
}
TEST_F(LoopProgramsTest, SdlThatPollsAndDelays) {
  ExpectOneIncidentOnDisplay("sdl_stall", {"delay"}, "sdl", {}, true);
}
TEST_F(LoopProgramsTest, SdlLinked) {
  ExpectOneIncidentOnDisplay("sdl_stall", {"delay"}, "sdl", {}, false);
}

TEST_F(LoopProgramsTest, AndroidLooper) {
  if (SanitizerStandsBetween()) GTEST_SKIP() << "the preloaded sanitizer waits in its place";
  if (!IsBuilt("utils_looper_stall")) GTEST_SKIP() << "libutils is not installed: ./dev setup";
  ExpectOneIncident({.argv = {Binary("utils_looper_stall")}, .loop = "android::Looper"}, true);
}
TEST_F(LoopProgramsTest, AndroidLooperLinked) {
  if (!IsBuilt("utils_looper_stall_linked")) GTEST_SKIP() << "libutils is not installed";
  ExpectOneIncident({.argv = {Binary("utils_looper_stall_linked")}, .loop = "android::Looper"},
                    false);
}

TEST_F(LoopProgramsTest, LoopsOfOtherThreadsRaiseNothingUnlessAskedFor) {
  const Outcome run = RunProgram({Binary("jankbox"), "run", "--slow-ms", "700", "--dir",
                                  Folder("spool"), "--", Binary("worker_stall")},
                                 ForeignEnvironment(), 30000);
  EXPECT_NE(run.out.find("stall_ms="), std::string::npos) << run.err;
  EXPECT_TRUE(Reports(Folder("spool")).empty()) << run.err;
}
TEST_F(LoopProgramsTest, LoopOfANamedThread) {
  if (SanitizerStandsBetween()) GTEST_SKIP() << "the preloaded sanitizer waits in its place";
  ExpectOneIncident({.argv = {Binary("worker_stall")},
                     .loop = "glib",
                     .environment = {{"JANKBOX_OPTIONS", "watch_threads='nobody,ren*'"}},
                     .thread = "render"},
                    true);
}
TEST_F(LoopProgramsTest, LoopOfAThreadThatTheCommandLineNames) {
  if (SanitizerStandsBetween()) GTEST_SKIP() << "the preloaded sanitizer waits in its place";
  const Outcome run = RunProgram({Binary("jankbox"), "run", "--thread", "nobody", "--thread",
                                  "ren*", "--dir", Folder("spool"), "--", Binary("worker_stall")},
                                 ForeignEnvironment(), 30000);
  EXPECT_THAT(run.err, ::testing::HasSubstr("render (glib), ")) << run.err;
  EXPECT_EQ(Reports(Folder("spool")).size(), 1u) << run.err;
}
TEST_F(LoopProgramsTest, LoopOfAThreadThatAsksForIt) {
  ExpectOneIncident({.argv = {Binary("worker_stall_linked")}, .loop = "frames", .thread = "render"},
                    false);
}

TEST_F(LoopProgramsTest, IdleCallbackThatTakesTooLongIsNamed) {
  const Outcome run =
      RunProgram({Binary("lags_linked"), "idle"}, {{"JANKBOX_DIR", Folder("spool")}}, 30000);
  EXPECT_EQ(run.exit_status, 0) << run.err;
  const std::vector<proto::Report> reports = Reports(Folder("spool"));
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kind(), proto::LAG);
  EXPECT_EQ(reports[0].what(), "idle: g_idle");
  EXPECT_EQ(reports[0].idle_callback(), "g_idle");
  EXPECT_GE(reports[0].idle_callback_ns(), 2'200'000'000u);
}

TEST_F(LoopProgramsTest, InputThatWaitedForManyShortMessagesIsAnIncident) {
  const Outcome run = RunProgram(
      {Binary("lags_linked"), "input"},
      {{"JANKBOX_DIR", Folder("spool")}, {"JANKBOX_OPTIONS", "input_latency_ms=1000"}}, 30000);
  EXPECT_EQ(run.exit_status, 0) << run.err;
  const std::vector<proto::Report> reports = Reports(Folder("spool"));
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kind(), proto::INPUT_LATENCY);
  EXPECT_GE(reports[0].input_wait_ns(), 1'200'000'000u);
  EXPECT_EQ(reports[0].input_wait_ns(), reports[0].duration_ns());
}

TEST_F(LoopProgramsTest, NodeInANativeFunction) {
  if (RunProgram({"node", "--version"}).exit_status != 0) {
    GTEST_SKIP() << "Node.js is not installed: ./dev setup";
  }
  const std::string script =
      "setInterval(() => {}, 50).unref();"
      "setTimeout(function stall() {"
      "  const begin = performance.now();"
      "  while (performance.now() - begin < 800) {"
      "    require('crypto').scryptSync('a', 'b', 64, {N: 1024});"
      "  }"
      "  console.log('stall_ms=' + (performance.now() - begin));"
      "}, 700);"
      "setTimeout(() => {}, 1900);";
  ExpectOneIncident({.argv = {"node", "-e", script}, .loop = "libuv", .function = "scrypt"}, true);
}

}  // namespace
}  // namespace jankbox
