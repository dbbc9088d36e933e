#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "base/clock.h"
#include "tests/e2e/run_program.h"

namespace jankbox {
namespace {

class RecoveryTest : public EndToEndTest {
 protected:
  static ptrdiff_t RingsOf(const std::string& runtime) {
    const Outcome found = RunProgram({"find", runtime, "-name", "*.jbxring"});
    return std::count(found.out.begin(), found.out.end(), '\n');
  }

  // Kills the driver 1.5 s into a block of 3 s.
  void KillInBlock() {
    Program driver({Binary("sdk_driver"), Folder("spool"), "block", "60000"});
    ASSERT_TRUE(driver.WaitForOutput("ready", 10000));
    const uint64_t begin_ns = MonotonicNs();
    usleep(1500000);
    blocked_ms_ = static_cast<double>(MonotonicNs() - begin_ns) / 1e6;
    driver.Signal(SIGKILL);
    EXPECT_EQ(driver.Wait(5000).signal, SIGKILL);
  }

  double blocked_ms_ = 0;
};

TEST_F(RecoveryTest, SigkillInABlockIsOneRecoveredReportAndNeverASecond) {
  KillInBlock();
  EXPECT_TRUE(Reports(Folder("spool")).empty());
  const Outcome first = RunProgram(
      {Binary("jankbox"), "run", "--dir", Folder("spool"), "--", "true"}, ForeignEnvironment());
  EXPECT_EQ(first.exit_status, 0) << first.err;
  std::vector<proto::Report> reports = Reports(Folder("spool"));
  ASSERT_EQ(reports.size(), 1u) << first.err;
  EXPECT_EQ(reports[0].kind(), proto::RECOVERED);
  EXPECT_THAT(static_cast<double>(reports[0].duration_ns()) / 1e6, LastsAbout(blocked_ms_));
  ASSERT_GT(reports[0].top_frames_size(), 0);
  EXPECT_EQ(reports[0].top_frames(0).function(), "blocked_method");
  EXPECT_EQ(reports[0].what(), "block message");
  EXPECT_EQ(Sum(reports[0].verdict()), reports[0].duration_ns());
  EXPECT_EQ(RunProgram({Binary("jankbox"), "run", "--dir", Folder("spool"), "--", "true"},
                       ForeignEnvironment())
                .exit_status,
            0);
  EXPECT_EQ(Reports(Folder("spool")).size(), 1u);
}

TEST_F(RecoveryTest, SdkStartRecoversToo) {
  KillInBlock();
  EXPECT_EQ(RunProgram({Binary("sdk_driver"), Folder("spool"), "idle"}).exit_status, 0);
  std::vector<proto::Report> reports = Reports(Folder("spool"));
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kind(), proto::RECOVERED);
  EXPECT_EQ(reports[0].process(), "sdk_driver");
  EXPECT_EQ(RunProgram({Binary("sdk_driver"), Folder("spool"), "idle"}).exit_status, 0);
  EXPECT_EQ(Reports(Folder("spool")).size(), 1u);
}

TEST_F(RecoveryTest, ProgramThatExitsWithoutItsDestructorsDidNotDieInItsMessage) {
  for (const std::string how : {"_exit", "_Exit", "quick_exit", "vfork"}) {
    SCOPED_TRACE(how);
    const Outcome outcome = RunProgram(
        {Binary("jankbox"), "run", "--dir", Folder("spool-" + how), "--", Binary("exits"), how},
        ForeignEnvironment());
    const bool killed = how == "vfork";
    EXPECT_EQ(outcome.exit_status, killed ? -1 : 3) << outcome.err;
    const std::vector<proto::Report> reports = Reports(Folder("spool-" + how));
    ASSERT_EQ(reports.size(), killed ? 1u : 0u) << outcome.err;
    if (killed) {
      EXPECT_EQ(reports[0].kind(), proto::RECOVERED);
    }
  }
}

TEST_F(RecoveryTest, CleanRecoversIntoTheFolderOfEachProgramAndLeavesNoRing) {
  KillInBlock();
  Program idle({Binary("sdk_driver"), Folder("other"), "block", "10"});
  ASSERT_TRUE(idle.WaitForOutput("ready", 10000));
  idle.Signal(SIGKILL);
  idle.Wait(5000);
  Program gone({Binary("sdk_driver"), Folder("gone"), "block", "10"});
  ASSERT_TRUE(gone.WaitForOutput("ready", 10000));
  gone.Signal(SIGKILL);
  gone.Wait(5000);
  RunProgram({"rm", "-rf", Folder("gone")});
  Program living({Binary("sdk_driver"), Folder("living"), "block", "20000"});
  ASSERT_TRUE(living.WaitForOutput("ready", 10000));
  const Outcome cleaned = RunProgram({Binary("jankbox"), "clean"});
  EXPECT_EQ(cleaned.exit_status, 0) << cleaned.err;
  const std::vector<proto::Report> reports = Reports(Folder("spool"));
  ASSERT_EQ(reports.size(), 1u) << cleaned.out;
  EXPECT_EQ(reports[0].kind(), proto::RECOVERED);
  EXPECT_EQ(Reports(Folder("other")).size(), 1u) << "how it ended";
  EXPECT_THAT(cleaned.out, ::testing::ContainsRegex("wrote " + Folder("spool") + "/.*, about a"));
  EXPECT_THAT(cleaned.out, ::testing::ContainsRegex("\nkept [0-9]+ rings? of dead processes"));
  EXPECT_THAT(cleaned.out, ::testing::ContainsRegex("\n[0-9]+ rings? in use\n"));
  EXPECT_EQ(RingsOf(runtime_), 2) << RunProgram({"find", runtime_}).out;
}

// 1,000 with --soak: what is left is never more than the last start's.
TEST_F(RecoveryTest, StartsThatAreKilledAtAnyMomentLeaveNoRing) {
  const int starts = getenv("JANKBOX_SOAK") != nullptr ? 1000 : 30;
  constexpr int kAtATime = 5;
  const auto before = std::chrono::steady_clock::now();
  Program first({Binary("sdk_driver"), Folder("spool"), "block", "20000"});
  ASSERT_TRUE(first.WaitForOutput("ready", 10000));
  first.Signal(SIGKILL);
  first.Wait(5000);
  // Twice as long as one start alone: up to five of them share the CPUs.
  const auto longest = 2 * std::chrono::duration_cast<std::chrono::microseconds>(
                               std::chrono::steady_clock::now() - before);
  int began = 0;
  for (int i = 0; i < starts / kAtATime; ++i) {
    std::vector<std::unique_ptr<Program>> programs;
    for (int j = 0; j < kAtATime; ++j) {
      programs.push_back(std::make_unique<Program>(
          std::vector<std::string>{Binary("sdk_driver"), Folder("spool"), "block", "20000"}));
    }
    usleep(static_cast<useconds_t>(longest.count() * (i * 11 % 60) / 60));
    for (auto& program : programs) program->Signal(SIGKILL);
    began += static_cast<int>(RingsOf(runtime_));
    for (auto& program : programs) EXPECT_EQ(program->Wait(5000).signal, SIGKILL);
  }
  EXPECT_GT(began, 0);  // some were killed late enough to have one
  if (starts < 1000) {
    EXPECT_EQ(RunProgram({Binary("sdk_driver"), Folder("spool"), "idle"}).exit_status, 0);
  } else {
    EXPECT_EQ(RunProgram({Binary("jankbox"), "clean"}).exit_status, 0);
  }
  EXPECT_EQ(RingsOf(runtime_), 0) << RunProgram({"find", runtime_}).out;
}

TEST_F(RecoveryTest, DeathAfterAnAnrWasSealedKeepsTheAnr) {
  Program driver({Binary("sdk_driver"), Folder("spool"), "block", "20000"},
                 {{"JANKBOX_OPTIONS", "anr_ms=1000,slow_message_ms=300"}});
  ASSERT_TRUE(driver.WaitForOutput("ready", 10000));
  std::vector<proto::Report> sealed;
  for (int i = 0; i < 150 && sealed.empty(); ++i) {
    usleep(100000);
    sealed = Reports(Folder("spool"));
  }
  ASSERT_EQ(sealed.size(), 1u);
  EXPECT_EQ(sealed[0].kind(), proto::ANR);
  EXPECT_TRUE(sealed[0].ongoing());
  driver.Signal(SIGKILL);
  driver.Wait(5000);
  EXPECT_EQ(RunProgram({Binary("sdk_driver"), Folder("spool"), "idle"}).exit_status, 0);
  const std::vector<proto::Report> recovered = Reports(Folder("spool"));
  ASSERT_EQ(recovered.size(), 1u);
  EXPECT_EQ(recovered[0].id(), sealed[0].id());
  EXPECT_EQ(recovered[0].revision(), 2u);
  EXPECT_EQ(recovered[0].kind(), proto::ANR);
  EXPECT_EQ(recovered[0].end_reason(), "unknown");
  EXPECT_FALSE(recovered[0].ongoing());
  ASSERT_GT(sealed[0].threads_size(), 0);
  ASSERT_EQ(recovered[0].threads_size(), sealed[0].threads_size());
  EXPECT_EQ(recovered[0].threads(0).SerializeAsString(), sealed[0].threads(0).SerializeAsString());
  EXPECT_EQ(recovered[0].anr_limit_ns(), sealed[0].anr_limit_ns());
  EXPECT_GT(recovered[0].duration_ns(), sealed[0].duration_ns());
}

}  // namespace
}  // namespace jankbox
