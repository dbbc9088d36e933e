#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/clock.h"
#include "report/report_json.h"
#include "tests/tools/sealed_report.h"
#include "tests/tools/subprocess.h"

namespace jankbox::tools {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A real collector on a port of its own.
class CollectorTest : public testing::Test {
 protected:
  void SetUp() override {
    collector_.emplace(std::vector<std::string>{JANKBOX_COLLECTOR_BINARY, "--listen", "127.0.0.1:0",
                                                "--data", folder_ / "store"},
                       Environment());
    ASSERT_TRUE(collector_->WaitForOutput("data in"));
    const std::string& line = collector_->output();
    const size_t from = line.find("http://");
    ASSERT_NE(from, std::string::npos);
    url_ = line.substr(from, line.find(',', from) - from);
  }
  // `script` runs under `jankbox run --upload`.
  Finished Run(const std::string& script, const std::string& url) {
    return RunToEnd({JANKBOX_BINARY, "run", "--dir", folder_ / "reports", "--upload", url, "--",
                     "sh", "-c", script},
                    {{"JANKBOX_AGENT", JANKBOX_WITNESS_AGENT}});
  }
  // A shell command that seals `report` into the spool.
  std::string SealLater(const proto::Report& report) {
    WriteFile(folder_ / report.id(), SealReport(report, "perfetto trace"));
    return "mv " + (folder_ / report.id()) + " " + (folder_ / "reports/") + report.id() +
           ".pftrace.zst; ";
  }
  bool SpoolIsEmpty() {
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "reports")) {
      if (entry.path().extension() == ".zst") return false;
    }
    return true;
  }

  TemporaryFolder folder_;
  std::optional<Subprocess> collector_;
  std::string url_;
};

TEST_F(CollectorTest, ReportsOfARunArriveAndReadTheSameFromThere) {
  const Finished run =
      Run(SealLater(SampleReport(1)) + SealLater(SampleReport(2)) + "exit 7", url_);
  EXPECT_EQ(run.exit_status(), 7);
  EXPECT_THAT(run.err, HasSubstr("[01960000-0001]"));
  EXPECT_THAT(run.err, HasSubstr("jankbox: 2 incidents (2 slow message), worst 912 ms; "
                                 "the program exited with status 7\n"));
  EXPECT_THAT(run.err, HasSubstr("jankbox: 2 reports sent to " + url_));
  EXPECT_TRUE(SpoolIsEmpty());

  std::filesystem::create_directories(folder_ / "copy");
  SealReportFile(folder_ / "copy", SampleReport(1));
  SealReportFile(folder_ / "copy", SampleReport(2));
  const Finished from_url = RunToEnd({JANKBOX_BINARY, "list", "--json", url_ + "/"});
  EXPECT_EQ(from_url.exit_status(), 0) << from_url.err;
  EXPECT_EQ(from_url.out, RunToEnd({JANKBOX_BINARY, "list", "--json", folder_ / "copy"}).out);
  EXPECT_EQ(RunToEnd({JANKBOX_BINARY, "list", url_}).out,
            RunToEnd({JANKBOX_BINARY, "list", folder_ / "copy"}).out);
}

TEST_F(CollectorTest, ShowAndExportTakeItsReports) {
  Run(SealLater(SampleReport(1)) + SealLater(SampleReport(2)), url_);
  for (const std::string& id : {std::string("01960000-0002"), SampleReport(2).id()}) {
    const Finished shown = RunToEnd({JANKBOX_BINARY, "show", "--json", "--from", url_, id});
    ASSERT_EQ(shown.exit_status(), 0) << shown.err;
    EXPECT_EQ(json::parse(shown.out), ReportToJson(SampleReport(2)));
    EXPECT_EQ(RunToEnd({JANKBOX_BINARY, "export", id, "--from", url_, "-o", "-"}).out,
              "perfetto trace");
  }
  const Finished absent = RunToEnd({JANKBOX_BINARY, "show", "--from", url_, SampleReport(9).id()});
  EXPECT_EQ(absent.exit_status(), 1);
  EXPECT_THAT(absent.err, HasSubstr("404"));
}

TEST_F(CollectorTest, WhatAnEarlierRunKeptIsSentButIsNoIncidentOfThisOne) {
  std::filesystem::create_directories(folder_ / "reports");
  SealReportFile(folder_ / "reports", SampleReport(1));
  const Finished run = Run("true", url_);
  EXPECT_EQ(run.err,
            "jankbox: nothing was watched: no thread waited in a loop that Jankbox knows "
            "(--children watches what the program starts, too)\njankbox: "
            "1 report sent to " +
                url_ + "; jankbox list " + url_ + "\n");
  EXPECT_TRUE(SpoolIsEmpty());
}

TEST_F(CollectorTest, CollectorThatIsDownKeepsTheReportsAndTheStatus) {
  kill(collector_->pid(), SIGKILL);
  collector_->Finish();
  const uint64_t begin_ns = MonotonicNs();
  const Finished run = Run(SealLater(SampleReport(1)) + "exit 3", url_);
  EXPECT_LT(MonotonicNs() - begin_ns, 15 * kNsPerSecond);
  EXPECT_EQ(run.exit_status(), 3);
  EXPECT_THAT(run.err, HasSubstr("jankbox: 1 report kept in " + (folder_ / "reports")));
  EXPECT_FALSE(SpoolIsEmpty());
}

TEST_F(CollectorTest, CollectorThatNeverAnswersDelaysTheEndByTenSecondsAtMost) {
  kill(collector_->pid(), SIGSTOP);
  const uint64_t begin_ns = MonotonicNs();
  const Finished run = Run(SealLater(SampleReport(1)) + "exit 3", url_);
  EXPECT_LT(MonotonicNs() - begin_ns, 15 * kNsPerSecond);
  EXPECT_EQ(run.exit_status(), 3);
  EXPECT_THAT(run.err, HasSubstr("1 report kept in"));
  kill(collector_->pid(), SIGCONT);
}

TEST_F(CollectorTest, InterruptEndsTheWaitForAnUploadNotTheStatus) {
  kill(collector_->pid(), SIGSTOP);
  Subprocess process(
      {JANKBOX_BINARY, "run", "--dir", folder_ / "reports", "--upload", url_, "--", "sh", "-c",
       "trap '' INT; " + SealLater(SampleReport(1)) + "echo done; exit 3"},
      {{"JANKBOX_AGENT", JANKBOX_WITNESS_AGENT}});
  ASSERT_TRUE(process.WaitForOutput("done"));
  const uint64_t begin_ns = MonotonicNs();
  // The first may still find the program alive, which ignores it.
  while (!process.WaitForEnd(200)) kill(process.pid(), SIGINT);
  const Finished finished = process.Finish();
  EXPECT_LT(MonotonicNs() - begin_ns, 5 * kNsPerSecond);
  EXPECT_EQ(finished.exit_status(), 3);
  EXPECT_THAT(finished.err, HasSubstr("1 report kept in"));
  kill(collector_->pid(), SIGCONT);
}

}  // namespace
}  // namespace jankbox::tools
