// Every kind of trace that Jankbox writes, by real programs, as trace_processor takes it.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/file.h"
#include "tests/importer/judged_reports.h"
#include "tracer/ftrace/event_reader.h"
#include "tracer/ftrace/tracefs_file.h"

namespace jankbox {
namespace {

using ::testing::Contains;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::SizeIs;
using testing::TraceContent;

class ImporterTest : public JudgedReportsTest {
 protected:
  // Runs a program with the SDK in it, which writes its reports to the folder `spool`.
  void Drive(const std::string& program, const std::vector<std::string>& command,
             const std::string& options = "") {
    std::vector<std::string> argv = {Binary(program), Folder("spool")};
    argv.insert(argv.end(), command.begin(), command.end());
    Run(argv, {{"JANKBOX_OPTIONS", options}});
  }
  void Run(const std::vector<std::string>& argv, const Environment& environment = {}) {
    const Outcome outcome = RunProgram(argv, environment);
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
  }
  // Starts a program, kills it when it is `ready`, and `after_ms` later.
  void Kill(const std::vector<std::string>& argv, unsigned after_ms,
            const Environment& environment = {}) {
    Program program(argv, environment);
    ASSERT_TRUE(program.WaitForOutput("ready", 20'000)) << program.Wait(1000).err;
    usleep(after_ms * 1000);
    program.Signal(SIGKILL);
    ASSERT_EQ(program.Wait(10'000).signal, SIGKILL);
  }
  // What the next start of a program makes of the dead ones'.
  void StartAgain() { Run({Binary("sdk_driver"), Folder("spool"), "idle"}); }
  // An arrow from a thread of the process to the end of a wait.
  static bool HasWakeUp(const TraceContent& content) {
    return std::any_of(content.instants.begin(), content.instants.end(), [](const auto& instant) {
      return instant.name.starts_with("woken by ") && !instant.ended_flows.empty();
    });
  }
  // Why the kernel's events cannot be had on this machine; empty if they can.
  static std::string WhyNoKernelEvents() {
    Result<std::string> tracefs = FindTracefs();
    if (!tracefs.ok()) return tracefs.status().message();
    Result<std::unique_ptr<EventReader>> reader = EventReader::Open(tracefs.value());
    return reader.ok() ? "" : reader.status().message();
  }
};

TEST_F(ImporterTest, SnapshotWithEveryEventOfTheSdk) {
  Drive("sdk_driver", {"slices"});
  const TraceContent content = JudgeWith(proto::MANUAL);
  EXPECT_THAT(content.frames, SizeIs(2));
  EXPECT_THAT(content.counters, SizeIs(1));
  EXPECT_THAT(content.instants, Not(IsEmpty()));
  EXPECT_TRUE(std::any_of(content.slices.begin(), content.slices.end(), [](const auto& slice) {
    return slice.flags.count("open_at_window_end") != 0;
  }));
}

TEST_F(ImporterTest, SlowMessageWithSamplesAndWithoutTheKernelsEvents) {
  Drive("sdk_driver", {"busy", "900"}, "ftrace=off");
  const TraceContent content = JudgeWith(proto::SLOW_MESSAGE);
  EXPECT_THAT(content.samples, SizeIs(Gt(20u)));
  EXPECT_THAT(content.sched, IsEmpty());
}

TEST_F(ImporterTest, SamplesWithoutAStack) {
  Drive("sdk_driver", {"busy", "900"}, "sampler=proc");
  const TraceContent content = JudgeWith(proto::SLOW_MESSAGE);
  EXPECT_TRUE(std::any_of(content.samples.begin(), content.samples.end(),
                          [](const auto& sample) { return sample.frames.empty(); }));
}

TEST_F(ImporterTest, KernelEvents) {
  if (const std::string why = WhyNoKernelEvents(); !why.empty()) GTEST_SKIP() << why;
  Drive("kernel_driver", {"fault"}, "ftrace_buffer_kib=4096");
  const TraceContent content = JudgeWith(proto::MANUAL);
  EXPECT_THAT(content.sched, SizeIs(Gt(10u)));
  EXPECT_THAT(content.wakings, Not(IsEmpty()));
  EXPECT_TRUE(std::any_of(content.slices.begin(), content.slices.end(),
                          [](const auto& slice) { return slice.name == "page faults"; }));
}

TEST_F(ImporterTest, CoarseRecordingOfAFlood) {
  Drive("sdk_driver", {"flood", "300"}, "record=coarse");
  EXPECT_THAT(JudgeWith(proto::MANUAL).slices, SizeIs(Gt(1000u)));
}

TEST_F(ImporterTest, JankAndColdStart) {
  Drive("sdk_driver", {"jank"}, "cold_start_ms=100");
  const std::map<proto::Kind, TraceContent> traces = JudgeAll();
  ASSERT_THAT(traces, Contains(Key(proto::JANK)));
  ASSERT_THAT(traces, Contains(Key(proto::STARTUP)));
  EXPECT_THAT(traces.at(proto::JANK).frames, SizeIs(Gt(10u)));
}

TEST_F(ImporterTest, Lag) {
  Drive("sdk_driver", {"block", "900"}, "slow_message_ms=200,lag_ms=400");
  JudgeWith(proto::LAG);
}

TEST_F(ImporterTest, AnrThatEnded) {
  Drive("sdk_driver", {"block", "1800"}, "slow_message_ms=300,anr_ms=1000");
  JudgeWith(proto::ANR);
}

// The ANR's file as it is while the block lasts, and again after the death.
TEST_F(ImporterTest, AnrOfADeadlockAndItsDeath) {
  auto program = std::make_unique<Program>(
      std::vector<std::string>{Binary("anr_driver"), Folder("spool"), "deadlock", "60000"},
      Environment{{"JANKBOX_OPTIONS", "slow_message_ms=200,lag_ms=400,anr_ms=600"}});
  for (int i = 0; i < 1000 && Reports(Folder("spool")).empty(); ++i) usleep(20'000);
  EXPECT_THAT(JudgeWith(proto::ANR).samples, Not(IsEmpty()));
  program->Signal(SIGKILL);
  program->Wait(10'000);
  StartAgain();
  EXPECT_THAT(JudgeWith(proto::ANR).samples, Not(IsEmpty()));
}

TEST_F(ImporterTest, RecoveredBlock) {
  Kill({Binary("sdk_driver"), Folder("spool"), "block", "60000"}, 1200);
  StartAgain();
  JudgeWith(proto::RECOVERED);
}

TEST_F(ImporterTest, ExitWithoutABlock) {
  Kill({Binary("ends_driver"), Folder("spool"), "idle"}, 100);
  StartAgain();
  EXPECT_THAT(JudgeWith(proto::EXIT).slices, Not(IsEmpty()));
}

TEST_F(ImporterTest, IncidentsOfTheAppsOwnAndRepeats) {
  Drive("incident_driver", {});
  const std::map<proto::Kind, TraceContent> traces = JudgeAll();
  EXPECT_THAT(traces, Contains(Key(proto::SLOW_MESSAGE)));
  EXPECT_THAT(traces, Contains(Key(proto::CUSTOM)));
  EXPECT_THAT(traces, Contains(Key(proto::MANUAL)));
}

TEST_F(ImporterTest, InputLatency) {
  Run({Binary("lags_linked"), "input"},
      {{"JANKBOX_DIR", Folder("spool")}, {"JANKBOX_OPTIONS", "input_latency_ms=1000"}});
  JudgeWith(proto::INPUT_LATENCY);
}

TEST_F(ImporterTest, WaitsForLocksAndFilesAndThreads) {
  ASSERT_TRUE(MakeDirectories(Folder("files"), 0700).ok());
  Run({Binary("source_driver"), Folder("files"), Folder("spool")},
      {{"JANKBOX_OPTIONS", "slow_message_ms=100"}});
  const TraceContent content = JudgeWith(proto::SLOW_MESSAGE);
  EXPECT_TRUE(std::any_of(content.slices.begin(), content.slices.end(),
                          [](const auto& slice) { return slice.category == "wait"; }));
  EXPECT_TRUE(std::any_of(content.instants.begin(), content.instants.end(),
                          [](const auto& instant) { return !instant.flows.empty(); }));
  EXPECT_TRUE(HasWakeUp(content));
}

TEST_F(ImporterTest, WakeUpsThatTheKernelReports) {
  if (const std::string why = WhyNoKernelEvents(); !why.empty()) GTEST_SKIP() << why;
  ASSERT_TRUE(MakeDirectories(Folder("files"), 0700).ok());
  Run({Binary("verdict_driver"), "condition", "1", Folder("files"), Folder("spool")});
  EXPECT_TRUE(HasWakeUp(JudgeWith(proto::SLOW_MESSAGE)));
}

TEST_F(ImporterTest, AgentFromBeforeMain) {
  Run({Binary("jankbox"), "run", "--startup", "--dir", Folder("spool"), "--", Binary("glib_waits"),
       "slow_start", "900"});
  EXPECT_THAT(JudgeAll(), Not(IsEmpty()));
}

TEST_F(ImporterTest, AgentInALoopOfGlib) {
  Run({Binary("jankbox"), "run", "--dir", Folder("spool"), "--", Binary("glib_waits"), "own_poll",
       "900"});
  JudgeWith(proto::SLOW_MESSAGE);
}

TEST_F(ImporterTest, NodeWithItsFunctions) {
  Run({Binary("jankbox"), "run", "--dir", Folder("spool"), "--", "node", "--perf-basic-prof",
       "--no-logfile-per-isolate", "--logfile=" + Folder("v8.log"), "-e",
       "setTimeout(() => { const end = Date.now() + 900; while (Date.now() < end); }, 300);"
       "setTimeout(() => {}, 1500);"},
      {{"JANKBOX_OPTIONS", "js_names=on"}});
  const TraceContent content = JudgeWith(proto::SLOW_MESSAGE);
  EXPECT_THAT(content.samples, Not(IsEmpty()));
  unlink(("/tmp/perf-" + std::to_string(content.pid) + ".map").c_str());
}

TEST_F(ImporterTest, AttachFromOutside) {
  if (access(Binary("gtk_stall").c_str(), X_OK) != 0) GTEST_SKIP() << "gtk_stall is not built";
  Environment environment = {{"PLANTED_STALL", "busy"}};
  if (!StartDisplay(&environment)) GTEST_SKIP() << "Xvfb does not run: ./dev setup";
  Program target({Binary("gtk_stall")}, environment);
  ASSERT_TRUE(target.WaitForOutput("ready", 30'000)) << target.Output();
  Program attach({"sh", "-c", "exec \"$@\" 2>&1", "sh", Binary("jankbox"), "attach", "--slow-ms",
                  "400", "--dir", Folder("spool"), std::to_string(target.pid())});
  if (!attach.WaitForOutput("watching main", 30'000)) GTEST_SKIP() << attach.Wait(1000).out;
  usleep(300'000);  // for some messages before
  target.Signal(SIGUSR1);
  ASSERT_TRUE(target.WaitForOutput("stall_ms=", 30'000));
  usleep(500'000);  // the loop goes on
  attach.Signal(SIGINT);
  const Outcome end = attach.Wait(30'000);
  ASSERT_EQ(end.exit_status, 0) << end.out;
  EXPECT_THAT(JudgeAll(), Contains(Key(proto::SLOW_MESSAGE)));
}

}  // namespace
}  // namespace jankbox
