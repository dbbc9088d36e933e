// H17: SIGQUIT in whole processes that look like Android's, with a thread that waits for it.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <set>

#include "tests/e2e/run_program.h"

namespace jankbox {
namespace {

class QuitTest : public EndToEndTest {
 protected:
  std::string Run(const std::string& order, int count,
                  const std::map<std::string, std::string>& environment = {}) {
    const Outcome outcome =
        RunProgram({Binary("quit_driver"), Folder("spool"), order, std::to_string(count)},
                   environment, 90'000);
    EXPECT_EQ(outcome.exit_status, 0) << outcome.signal << outcome.err;
    return outcome.out;
  }
};

TEST_F(QuitTest, H17ThousandUnderAMallocStormArriveOnceEach) {
  EXPECT_EQ(Run("alone", 1000), "sent 1000 caught 1000 other 0\n");
  const std::vector<proto::Report> reports = Reports(Folder("spool"));
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].sigquits(), 1000u);
}

TEST_F(QuitTest, H17HandlerThatWasThereBeforeIsKept) {
  EXPECT_EQ(Run("before", 1000), "sent 1000 caught 1000 other 1000\n");
}

TEST_F(QuitTest, H17HandlerThatCameLaterCallsOurs) {
  EXPECT_EQ(Run("after", 1000), "sent 1000 caught 1000 other 1000\n");
}

TEST_F(QuitTest, H17EachOfThreeStallsIsAnAnrOfItsOwn) {
  EXPECT_EQ(Run("stalls", 3, {{"JANKBOX_OPTIONS", "slow_message_ms=100,lag_ms=300,repeats=every"}}),
            "sent 3 caught 3 other 0\n");
  std::set<std::string> ids;
  for (const proto::Report& report : Reports(Folder("spool"))) {
    if (report.kind() != proto::ANR) continue;
    ids.insert(report.id());
    EXPECT_EQ(report.anr_limit_ns(), 300'000'000u);
    EXPECT_FALSE(report.ongoing());
  }
  EXPECT_EQ(ids.size(), 3u);
}

TEST_F(QuitTest, WatchdogAndSignalAreOneIncident) {
  EXPECT_EQ(Run("stalls", 1, {{"JANKBOX_OPTIONS", "slow_message_ms=100,anr_ms=400"}}),
            "sent 1 caught 1 other 0\n");
  std::vector<proto::Report> reports = Reports(Folder("spool"));
  std::erase_if(reports,
                [](const proto::Report& report) { return report.kind() == proto::MANUAL; });
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kind(), proto::ANR);
  EXPECT_EQ(reports[0].anr_limit_ns(), 400'000'000u);
}

TEST_F(QuitTest, SignalThatNothingIsWrongWithIsOnlyCounted) {
  EXPECT_EQ(Run("stalls", 1, {{"JANKBOX_OPTIONS", "slow_message_ms=10000"}}),
            "sent 1 caught 1 other 0\n");
  const std::vector<proto::Report> reports = Reports(Folder("spool"));
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kind(), proto::MANUAL);
  EXPECT_EQ(reports[0].sigquits(), 1u);
}

TEST_F(QuitTest, ProcessThatWouldHaveDiedOfItDies) {
  Program program({Binary("anr_driver"), Folder("spool"), "work", "20000"},
                  {{"JANKBOX_OPTIONS", "sigquit=on"}});
  ASSERT_TRUE(program.WaitForOutput("ready", 20'000));
  program.Signal(SIGQUIT);
  EXPECT_EQ(program.Wait(10'000).signal, SIGQUIT);
}

}  // namespace
}  // namespace jankbox
