// The preload agent in programs that know nothing of Jankbox.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/e2e/run_program.h"
#include "tests/perfetto/trace_reader.h"

namespace jankbox {
namespace {

class AgentTest : public EndToEndTest {
 protected:
  Outcome RunAgent(const std::vector<std::string>& options, const std::vector<std::string>& program,
                   int timeout_ms = 60000, const std::string& jankbox_options = "") {
    std::vector<std::string> argv = {Binary("jankbox"), "run", "--dir", Folder("spool")};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back("--");
    argv.insert(argv.end(), program.begin(), program.end());
    std::map<std::string, std::string> environment = ForeignEnvironment();
    environment["JANKBOX_OPTIONS"] = jankbox_options;
    return RunProgram(argv, environment, timeout_ms);
  }
  // A preloaded sanitizer intercepts poll: the agent sees its calls instead of the program's.
  static bool SanitizerStandsBetween() { return getenv("JANKBOX_TEST_PRELOAD") != nullptr; }
  static double DurationMs(const proto::Report& report) {
    return static_cast<double>(report.duration_ns()) / 1e6;
  }
  static bool Names(const proto::Report& report, const std::string& part) {
    return std::any_of(report.top_frames().begin(), report.top_frames().end(),
                       [&](const proto::Frame& frame) {
                         return frame.function().find(part) != std::string::npos;
                       });
  }
};

TEST_F(AgentTest, PollOfItsOwnInACallbackIsOneIncident) {
  const Outcome run = RunAgent({}, {Binary("glib_waits"), "own_poll", "900"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(run.out, "done\n");
  const std::vector<proto::Report> reports = Reports(Folder("spool"));
  ASSERT_EQ(reports.size(), 1u) << run.err;
  EXPECT_EQ(reports[0].kind(), proto::SLOW_MESSAGE);
  EXPECT_THAT(DurationMs(reports[0]), LastsAbout(900));
  if (!SanitizerStandsBetween()) {
    EXPECT_EQ(reports[0].loop(), "glib");
  }
  EXPECT_TRUE(Names(reports[0], "wait_for_own_pipe")) << reports[0].ShortDebugString();
  EXPECT_EQ(Sum(reports[0].verdict()), reports[0].duration_ns());
}

TEST_F(AgentTest, ManyShortPollsInACallbackAreOneIncident) {
  const Outcome run = RunAgent({}, {Binary("glib_waits"), "many_polls", "40"});
  const std::vector<proto::Report> reports = Reports(Folder("spool"));
  ASSERT_EQ(reports.size(), 1u) << run.err;
  EXPECT_THAT(DurationMs(reports[0]), LastsAbout(1200));
}

TEST_F(AgentTest, WaitOfALoopThatIsNotSureYetIsAPossibleStall) {
  const Outcome run = RunAgent({"--startup", "--slow-ms", "390"}, {Binary("unsure_loop")});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.err,
              ::testing::ContainsRegex("no incidents; watched: main \\(poll(, unsure)?\\), "));
  EXPECT_THAT(run.err,
              ::testing::ContainsRegex("; 1 possible stall of up to [4-9][0-9][0-9] ms, not"));
}

TEST_F(AgentTest, StartUpIsRecordedFromBeforeMainIfAskedFor) {
  for (const size_t reports : {1, 0}) {
    const Outcome run =
        RunAgent(reports == 1 ? std::vector<std::string>{"--startup"} : std::vector<std::string>(),
                 {Binary("glib_waits"), "slow_start", "900"});
    EXPECT_EQ(run.exit_status, 0) << run.err;
    const std::vector<proto::Report> found = Reports(Folder("spool"));
    ASSERT_EQ(found.size(), reports) << run.err;
    if (reports == 0) continue;
    EXPECT_EQ(found[0].what(), "start-up");
    EXPECT_THAT(DurationMs(found[0]), LastsAbout(900));
    EXPECT_TRUE(Names(found[0], "load_everything")) << found[0].ShortDebugString();
    // On a busy machine the thread waits for its CPU; it never waits for anything else.
    const proto::Verdict& verdict = found[0].verdict();
    EXPECT_GT(verdict.running_ns() + verdict.runnable_ns(), found[0].duration_ns() / 2);
    EXPECT_GT(verdict.running_ns(), found[0].duration_ns() / 10);
    RunProgram({"rm", "-rf", Folder("spool")});
  }
}

TEST_F(AgentTest, SlowExitIsNoMessage) {
  for (const auto& [command, status] : {std::pair("slow_exit", 0), std::pair("exit_inside", 4)}) {
    const Outcome run = RunAgent({"--slow-ms", "700"}, {Binary("glib_waits"), command, "900"});
    EXPECT_EQ(run.exit_status, status) << run.err;
    const std::vector<proto::Report> reports = Reports(Folder("spool"));
    ASSERT_EQ(reports.size(), 1u) << run.err;
    EXPECT_EQ(reports[0].what(), "exit");
    EXPECT_THAT(DurationMs(reports[0]), LastsAbout(900));
    EXPECT_TRUE(Names(reports[0], "sleep_at_exit")) << reports[0].ShortDebugString();
    RunProgram({"rm", "-rf", Folder("spool")});
  }
}

TEST_F(AgentTest, IdleWaitsAndModalLoopsAreNoIncident) {
  for (const auto& [command, ms] : {std::pair("idle", "2000"), std::pair("modal", "1200")}) {
    const Outcome run = RunAgent({"--slow-ms", "700"}, {Binary("glib_waits"), command, ms});
    EXPECT_EQ(run.exit_status, 0);
  }
  EXPECT_TRUE(Reports(Folder("spool")).empty());
}

TEST_F(AgentTest, NodeTimerThatIsBusyForASecond) {
  if (RunProgram({"node", "--version"}).exit_status != 0)
    GTEST_SKIP() << "Node.js is not installed: ./dev setup";
  const Outcome run = RunAgent(
      {"--slow-ms", "500"},
      {"node", "-e",
       "setTimeout(()=>{const "
       "e=Date.now()+1000;while(Date.now()<e);},200);setTimeout(()=>console.log('bye'),1500)"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(run.out, "bye\n");
  const std::vector<proto::Report> reports = Reports(Folder("spool"));
  ASSERT_EQ(reports.size(), 1u) << run.err;
  EXPECT_EQ(reports[0].kind(), proto::SLOW_MESSAGE);
  EXPECT_THAT(DurationMs(reports[0]), LastsAbout(1000));
  EXPECT_EQ(reports[0].loop(), "libuv");
  // On a busy machine the thread waits for its CPU; it never waits for anything else.
  const proto::Verdict& verdict = reports[0].verdict();
  EXPECT_GT(verdict.running_ns() + verdict.runnable_ns(), reports[0].duration_ns() * 7 / 10);
  EXPECT_GT(verdict.running_ns(), reports[0].duration_ns() / 20);
}

TEST_F(AgentTest, NodeFunctionsAreNamedOnRequest) {
  if (RunProgram({"node", "--version"}).exit_status != 0)
    GTEST_SKIP() << "Node.js is not installed: ./dev setup";
  const std::vector<std::string> program = {
      "node",
      "--perf-basic-prof",
      "--no-logfile-per-isolate",
      "--logfile=" + Folder("v8.log"),
      "-e",
      "function jankyLoop(ms){const e=Date.now()+ms;let x=0;while(Date.now()<e){for(let i=0;i<1e5;"
      "++i)x+=Math.sqrt(i)}return x}setTimeout(()=>jankyLoop(1000),200)"};
  for (const bool on : {false, true}) {
    const Outcome run = RunAgent({}, program, 60000, on ? "js_names=on" : "");
    EXPECT_EQ(run.exit_status, 0) << run.err;
    std::vector<proto::Report> reports = Reports(Folder("spool"));
    std::erase_if(reports, [](const proto::Report& report) { return DurationMs(report) < 500; });
    ASSERT_EQ(reports.size(), on ? 2u : 1u) << run.err;
    const auto named = std::count_if(reports.begin(), reports.end(),
                                     [](const auto& report) { return Names(report, "jankyLoop"); });
    EXPECT_EQ(named, on ? 1 : 0);
    for (const proto::Report& report : reports) {
      unlink(("/tmp/perf-" + std::to_string(report.pid()) + ".map").c_str());
    }
  }
}

TEST_F(AgentTest, SlowJavaScriptFunctionsHaveNamesAndLines) {
  if (RunProgram({"node", "--version"}).exit_status != 0)
    GTEST_SKIP() << "Node.js is not installed: ./dev setup";
  const std::string source = Folder("three.js");
  std::ofstream(source) << R"(
function busy(ms) { const end = Date.now() + ms; while (Date.now() < end); }
function parseEverything() {
  busy(600);
}
const paint = {
  wholeScreen() { busy(600); },
};
const sum = (list) => { busy(600); return list.length; };
console.log(process.execArgv.length, process.argv.slice(2).join());
setTimeout(parseEverything, 300);
setTimeout(() => paint.wholeScreen(), 1500);
setTimeout(() => sum([1]), 2700);
setTimeout(() => {}, 3900);
)";
  const std::string script = Folder("start.sh");
  std::ofstream(script) << "#!/bin/sh\ncd " << Folder("") << "\nexec node \"$@\"\n";
  ASSERT_EQ(chmod(script.c_str(), 0755), 0);
  for (const std::string& program : {std::string("node"), script}) {
    const std::string spool = Folder("spool" + std::to_string(program.size()));
    const Outcome run = RunProgram({Binary("jankbox"), "run", "--js", "--slow-ms", "500", "--dir",
                                    spool, "--", program, source, "a", "b c"},
                                   ForeignEnvironment(), 60000);
    EXPECT_EQ(run.exit_status, 0) << run.err;
    EXPECT_EQ(run.out, program == "node" ? "4 a,b c\n" : "0 a,b c\n");
    const std::vector<proto::Report> reports = Reports(spool);
    for (const char* function :
         {"parseEverything three.js:3", "wholeScreen three.js:7", "sum three.js:9"}) {
      const auto report = std::find_if(
          reports.begin(), reports.end(),
          [&](const proto::Report& one) { return DurationMs(one) >= 500 && Names(one, function); });
      ASSERT_NE(report, reports.end()) << function << "\n" << run.err;
      std::string error;
      const std::string path = spool + "/" + report->id() + kReportFileSuffix;
      const testing::TraceContent trace =
          testing::ReadTrace(ReadFile(path, 64 << 20).value(), &error);
      EXPECT_EQ(error, "");
      EXPECT_TRUE(std::any_of(trace.samples.begin(), trace.samples.end(), [&](const auto& sample) {
        return std::any_of(sample.frames.begin(), sample.frames.end(),
                           [&](const auto& frame) { return frame.function == function; });
      })) << function;
    }
    for (const proto::Report& report : reports) {
      unlink(("/tmp/perf-" + std::to_string(report.pid()) + ".map").c_str());
    }
  }
}

TEST_F(AgentTest, ReportWithoutNamesOfJavaScriptSaysHowToGetThem) {
  if (RunProgram({"node", "--version"}).exit_status != 0)
    GTEST_SKIP() << "Node.js is not installed: ./dev setup";
  const Outcome run = RunAgent(
      {}, {"node", "-e", "setTimeout(()=>{const e=Date.now()+1000;while(Date.now()<e);},200)"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  const std::vector<proto::Report> reports = Reports(Folder("spool"));
  EXPECT_TRUE(std::any_of(reports.begin(), reports.end(), [](const proto::Report& report) {
    return std::any_of(report.notes().begin(), report.notes().end(), [](const std::string& note) {
      return note.find("jankbox run --js") != std::string::npos;
    });
  })) << run.err;
}

TEST_F(AgentTest, NodeThatEndsRightAfterItsBusyTimer) {
  if (RunProgram({"node", "--version"}).exit_status != 0)
    GTEST_SKIP() << "Node.js is not installed: ./dev setup";
  const Outcome run = RunAgent(
      {}, {"node", "-e", "setTimeout(()=>{const e=Date.now()+1000;while(Date.now()<e);},200)"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  std::vector<proto::Report> reports = Reports(Folder("spool"));
  // On a slow machine Node.js itself may be slow while it starts or ends.
  std::erase_if(reports, [](const proto::Report& report) { return DurationMs(report) < 500; });
  ASSERT_EQ(reports.size(), 1u) << run.err;
  EXPECT_THAT(DurationMs(reports[0]), LastsAbout(1000));
}

TEST_F(AgentTest, GtkProgramIsCaughtInItsOwnFunctions) {
  if (SanitizerStandsBetween()) {
    GTEST_SKIP() << "the preloaded sanitizer calls poll in GTK's place: who waits cannot be told";
  }
  if (RunProgram({"sh", "-c", "command -v Xvfb gtk3-widget-factory"}).exit_status != 0) {
    GTEST_SKIP() << "Xvfb or gtk3-widget-factory is not installed: ./dev setup";
  }
  Program display({"Xvfb", "-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp"});
  ASSERT_TRUE(display.WaitForOutput("\n", 10000));
  std::map<std::string, std::string> environment = ForeignEnvironment();
  environment["DISPLAY"] = ":" + display.Output().substr(0, display.Output().find('\n'));
  Program run({Binary("jankbox"), "run", "--dir", Folder("spool"), "--slow-ms", "30", "--",
               "gtk3-widget-factory"},
              environment);
  for (int i = 0; i < 200 && Reports(Folder("spool")).empty(); ++i) usleep(100000);
  run.Signal(SIGTERM);
  EXPECT_EQ(run.Wait(10000).signal, SIGTERM);
  const std::vector<proto::Report> reports = Reports(Folder("spool"));
  ASSERT_GE(reports.size(), 1u);
  EXPECT_TRUE(std::any_of(reports.begin(), reports.end(), [](const proto::Report& report) {
    return Names(report, "gtk_") || Names(report, "g_") || Names(report, "cairo") ||
           Names(report, "pango");
  })) << reports[0].ShortDebugString();
}

TEST_F(AgentTest, WaitsAreTheSameWithAndWithoutSampling) {
  const char* seconds = getenv("JANKBOX_SOAK") != nullptr ? "60" : "8";
  const Outcome without = RunProgram({Binary("wait_counter"), seconds}, {}, 90000);
  const Outcome with = RunAgent({"--slow-ms", "80"}, {Binary("wait_counter"), seconds}, 90000,
                                "cpu_budget_permille=none");
  EXPECT_EQ(without.out, "eintr=0 short=0\n");
  EXPECT_EQ(with.out, without.out);
  const std::vector<proto::Report> reports = Reports(Folder("spool"));
  ASSERT_GT(reports.size(), 5u) << "not sampled at all: " << with.err;
  EXPECT_GT(reports.back().sample_count(), 5u);
}

TEST_F(AgentTest, ProgramWithoutALoopGetsNoRing) {
  const Outcome run = RunAgent({}, {"sh", "-c", "sleep 0.2; exit 7"});
  EXPECT_EQ(run.exit_status, 7);
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(Reports(Folder("spool")).empty());
}

TEST_F(AgentTest, NothingOfUsRunsInASandbox) {
  if (!ForeignEnvironment().empty()) GTEST_SKIP() << "the sanitizer's own system calls are killed";
  const Outcome outcome =
      RunProgram({Binary("jankbox"), "run", "--dir", Folder("spool"), "--", Binary("sandbox")},
                 ForeignEnvironment());
  EXPECT_EQ(outcome.exit_status, 7) << outcome.err;
  EXPECT_THAT(outcome.err, ::testing::ContainsRegex("watched: main \\(epoll(, unsure)?\\), "));
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("sandbox puts itself into a sandbox (seccomp): "));
}

TEST_F(AgentTest, QuestionWhetherThereAreSandboxesIsNone) {
  const Outcome outcome = RunAgent({}, {Binary("sandbox"), "ask"});
  EXPECT_EQ(outcome.exit_status, 7) << outcome.err;
  EXPECT_THAT(outcome.err, ::testing::ContainsRegex("watched: main \\(epoll(, unsure)?\\) for"));
  EXPECT_THAT(outcome.err, ::testing::Not(::testing::HasSubstr("puts itself into a sandbox")));
}

TEST_F(AgentTest, LibraryThatWaitsInItsConstructorIsNoHarm) {
  const Outcome run = RunAgent({}, {Binary("early_program")});
  EXPECT_EQ(run.exit_status, 0) << run.err << run.signal;
}

TEST_F(AgentTest, ChildrenThatAreForkedWhileTheRecorderStartsEndAsWithoutIt) {
  const int runs = getenv("JANKBOX_SOAK") != nullptr ? 100 : 5;
  for (int i = 0; i < runs; ++i) {
    for (const bool children : {false, true}) {
      const Outcome run =
          RunAgent({children ? "--children" : "--quiet"}, {Binary("fork_storm"), "40"});
      ASSERT_EQ(run.out, "lost 0\n") << run.err;
    }
  }
}

TEST_F(AgentTest, ChildrenMadeInAnyWayEndAsWithoutIt) {
  const int runs = getenv("JANKBOX_SOAK") != nullptr ? 16 : 1;
  std::vector<std::pair<std::string, std::string>> variants = {{"LD_BIND_NOW", "1"}, {"_", "_"}};
  for (const char* allocator : {"libjemalloc.so.2", "libtcmalloc_minimal.so.4"}) {
    if (!SanitizerStandsBetween()) variants.emplace_back("LD_PRELOAD", allocator);
  }
  for (const auto& [variable, value] : variants) {
    std::map<std::string, std::string> environment = ForeignEnvironment();
    environment[variable] = value;
    for (int i = 0; i < runs; ++i) {
      const Outcome run = RunProgram({Binary("jankbox"), "run", "--quiet", "--dir", Folder("spool"),
                                      "--", Binary("fork_kinds"), "160"},
                                     environment, 120'000);
      ASSERT_EQ(run.out, "lost 0\n") << variable << "=" << value << ": " << run.err;
      ASSERT_THAT(run.err, ::testing::Not(::testing::HasSubstr("preloaded: ignored")));
    }
  }
}

TEST_F(AgentTest, ProgramUnderThreadSanitizerRunsAsWithoutJankbox) {
  if (SanitizerStandsBetween()) GTEST_SKIP() << "one sanitizer at a time";
  const Outcome run = RunAgent({}, {Binary("fork_kinds_tsan"), "16", "forks"});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_EQ(run.out, "lost 0\n");
  EXPECT_THAT(run.err, ::testing::HasSubstr("nothing was watched: " + Binary("fork_kinds_tsan") +
                                            " is built with ThreadSanitizer"));
  EXPECT_THAT(run.err, ::testing::Not(::testing::HasSubstr("WARNING")));
}

TEST_F(AgentTest, ProgramsThatTheProgramStartsAreRecordedIfAskedFor) {
  const std::string script = Binary("glib_waits") + " own_poll 900; exit 3";
  for (const bool children : {false, true}) {
    const Outcome run =
        RunAgent(children ? std::vector<std::string>{"--children"} : std::vector<std::string>(),
                 {"sh", "-c", script});
    EXPECT_EQ(run.exit_status, 3);
    EXPECT_EQ(Reports(Folder("spool")).size(), children ? 1u : 0u) << run.err;
    EXPECT_THAT(run.err,
                ::testing::HasSubstr(children ? "watched: main (glib), " : "nothing was watched: "))
        << run.err;
  }
}

TEST_F(AgentTest, OnlyProgramsOfTheNamesGivenAreRecorded) {
  const std::string script = Binary("glib_waits") + " own_poll 900; exit 3";
  for (const auto& [names, reports] : {std::pair("dash,glib_w*", 1u), std::pair("dash,glib", 0u)}) {
    const Outcome run = RunAgent({"--only", names}, {"sh", "-c", script});
    EXPECT_EQ(run.exit_status, 3);
    EXPECT_EQ(Reports(Folder("spool")).size(), reports) << run.err;
    if (reports == 0) {
      EXPECT_THAT(run.err, ::testing::HasSubstr("in a program named dash,glib; "));
    }
    RunProgram({"rm", "-rf", Folder("spool")});
  }
}

TEST_F(AgentTest, TroubleInTheTreeIsPrintedOnce) {
  // A folder that goes away while the tree runs: no process in it can write its reports.
  const std::string loop = Binary("glib_waits") + " own_poll 300";
  const Outcome run = RunAgent({"--slow-ms", "50", "--children"},
                               {"sh", "-c",
                                "rm -rf " + Folder("spool") + " && : > " + Folder("spool") + "; " +
                                    loop + "; " + loop + "; exit 5"});
  EXPECT_EQ(run.exit_status, 5);
  EXPECT_EQ(run.out, "done\ndone\n");
  size_t told = 0;
  for (size_t at = run.err.find("no reports will be written"); at != std::string::npos;
       at = run.err.find("no reports will be written", at + 1)) {
    ++told;
  }
  EXPECT_EQ(told, 1u) << run.err;
}

}  // namespace
}  // namespace jankbox
