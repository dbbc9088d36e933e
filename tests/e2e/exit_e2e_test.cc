// Ends of a program that close no ring, or close it in each way that there is: what is reported of
// them at the next start, and by `jankbox run`, which knows their wait status.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/run_program.h"

namespace jankbox {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ExitTest : public EndToEndTest {
 protected:
  void SetUp() override {
    EndToEndTest::SetUp();
    if (getenv("JANKBOX_TEST_PRELOAD") != nullptr) {
      GTEST_SKIP() << "the sanitizer handles the signals that end the programs";
    }
  }
  // No message is an incident, even on a busy machine.
  static Environment NoIncidents(Environment environment) {
    environment["JANKBOX_OPTIONS"] = "slow_message_ms=60000,lag_ms=60000,anr_ms=60000";
    return environment;
  }
  // Runs `ends_driver` into `folder`, until it is ready; it ends as `how` says.
  static std::unique_ptr<Program> Start(const std::string& folder, const std::string& how,
                                        const Environment& environment = {}) {
    auto program = std::make_unique<Program>(
        std::vector<std::string>{Binary("ends_driver"), folder, how}, NoIncidents(environment));
    EXPECT_TRUE(program->WaitForOutput("ready", 20000)) << how;
    return program;
  }
  // What the next start of a program with that folder makes of it.
  static std::vector<proto::Report> NextStart(const std::string& folder) {
    EXPECT_EQ(RunProgram({Binary("sdk_driver"), folder, "idle"}).exit_status, 0);
    return Reports(folder);
  }
  Outcome Run(const std::string& how, const std::string& folder) {
    return RunProgram(
        {Binary("jankbox"), "run", "--dir", Folder(folder), "--", Binary("ends"), "-", how},
        NoIncidents(ForeignEnvironment()));
  }
};

TEST_F(ExitTest, RunSaysTheSignalOfEachEnd) {
  const struct {
    const char* how;
    const char* reason;
    int signal;
  } kEnds[] = {{"segv", "SIGSEGV", SIGSEGV},
               {"kill", "SIGKILL", SIGKILL},
               {"crash", "SIGSEGV", SIGSEGV},
               {"abort", "SIGABRT", SIGABRT},
               {"raise", "SIGBUS", SIGBUS}};
  for (const auto& end : kEnds) {
    SCOPED_TRACE(end.how);
    const Outcome outcome = Run(end.how, end.how);
    EXPECT_EQ(outcome.signal, end.signal) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(std::string("the program was ended by ") + end.reason));
    const std::vector<proto::Report> reports = Reports(Folder(end.how));
    ASSERT_THAT(reports, SizeIs(1)) << outcome.err;
    EXPECT_EQ(reports[0].kind(), proto::EXIT);
    EXPECT_EQ(reports[0].end_reason(), end.reason);
    EXPECT_EQ(reports[0].end_evidence(), "wait status");
    EXPECT_EQ(reports[0].process(), "ends");
    EXPECT_THAT(outcome.err, HasSubstr(std::string("ended by ") + end.reason + "  ["));
  }
}

TEST_F(ExitTest, RunReportsNoEndThatWasAskedFor) {
  for (const char* how : {"exit", "_exit", "quick_exit", "execv", "execl", "term"}) {
    SCOPED_TRACE(how);
    const Outcome outcome = Run(how, how);
    const bool killed = std::string(how) == "term";
    EXPECT_EQ(outcome.signal, killed ? SIGTERM : 0) << outcome.err;
    EXPECT_EQ(outcome.exit_status, killed ? -1 : 0) << outcome.err;
    EXPECT_THAT(Reports(Folder(how)), IsEmpty()) << outcome.err;
    EXPECT_THAT(NextStart(Folder(how)), IsEmpty());
  }
}

TEST_F(ExitTest, NextStartReportsEachUncleanEndAndNeverAWrongReason) {
  const std::map<std::string, std::string> reasons = {{"segv", "unknown"},
                                                      {"kill", "unknown"},
                                                      {"crash", "unknown"},
                                                      {"abort", "SIGABRT"},
                                                      {"raise", "SIGBUS"}};
  for (const auto& [how, reason] : reasons) {
    SCOPED_TRACE(how);
    const std::string folder = Folder(how);
    auto program = Start(folder, how);
    const pid_t pid = program->pid();
    EXPECT_NE(program->Wait(10000).signal, 0);
    const std::vector<proto::Report> reports = NextStart(folder);
    ASSERT_THAT(reports, SizeIs(1));
    EXPECT_EQ(reports[0].kind(), proto::EXIT);
    EXPECT_EQ(reports[0].pid(), pid);
    EXPECT_EQ(reports[0].tid(), pid);
    EXPECT_EQ(reports[0].end_reason(), reason);
    EXPECT_GT(reports[0].window().to_ns(), reports[0].window().from_ns());
    EXPECT_GT(reports[0].history().count(), 0u) << "its last messages";
    if (how == "crash") {
      EXPECT_EQ(reports[0].what(), "crashing message");
    }
    EXPECT_THAT(NextStart(folder), SizeIs(1)) << "once";
  }
}

TEST_F(ExitTest, OrderlyEndsWithTheSdkAloneAreNoReport) {
  for (const char* how :
       {"exit", "_exit", "quick_exit", "execve", "execv", "execvp", "execl", "execlp", "execle"}) {
    SCOPED_TRACE(how);
    auto program = Start(Folder(how), how);
    EXPECT_EQ(program->Wait(10000).exit_status, 0);
    EXPECT_THAT(NextStart(Folder(how)), IsEmpty());
  }
}

TEST_F(ExitTest, CallThatReturnedIsNoEnd) {
  for (const char* how : {"caught", "noexec", "vfork"}) {
    SCOPED_TRACE(how);
    auto program = Start(Folder(how), how);
    usleep(100000);
    program->Signal(SIGKILL);
    program->Wait(5000);
    const std::vector<proto::Report> reports = NextStart(Folder(how));
    ASSERT_THAT(reports, SizeIs(1));
    EXPECT_EQ(reports[0].end_reason(), "unknown");
  }
}

TEST_F(ExitTest, BackgroundKillAndProcessWithoutAMessageAreNoReport) {
  for (const char* how : {"background", "silent"}) {
    SCOPED_TRACE(how);
    auto program = Start(Folder(how), how);
    program->Signal(SIGKILL);
    program->Wait(5000);
    EXPECT_THAT(NextStart(Folder(how)), IsEmpty());
  }
}

TEST_F(ExitTest, CountsOfAllEndsAreInALaterReport) {
  const std::string folder = Folder("spool");
  EXPECT_EQ(Run("term", "spool").signal, SIGTERM);
  EXPECT_EQ(Run("kill", "spool").signal, SIGKILL);
  const std::vector<proto::Report> reports = Reports(folder);
  ASSERT_THAT(reports, SizeIs(1));
  std::map<std::string, uint64_t> counts;
  for (const proto::EndCount& end : reports[0].ends()) counts[end.reason()] = end.count();
  EXPECT_EQ(counts, (std::map<std::string, uint64_t>{{"SIGKILL", 1}, {"SIGTERM", 1}}));
}

}  // namespace
}  // namespace jankbox
