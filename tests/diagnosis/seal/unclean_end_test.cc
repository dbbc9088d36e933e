// Rings that their processes did not close: which ends are reported, and as what.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process_runner.h"
#include "diagnosis/seal/end_book.h"
#include "report/report_file.h"
#include "tests/diagnosis/seal/recovery_fixture.h"
#include "tracer/ring/process_identity.h"
#include "uploader/spool/spool_folder.h"

namespace jankbox {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class UncleanEndTest : public RecoveryTest {
 protected:
  UncleanEndTest() {
    ring_->file()->NoteForeground(true);
    ring_->Watch(0, kUi);
    ring_->Dispatch(0, "done", At(100), At(200));
  }
  Result<std::vector<std::string>> RecoverChild(int wait_status) {
    Leave();
    return Recover(ChildEnd{header()->pid, wait_status});
  }
};

TEST_F(UncleanEndTest, IsAReportOfItsLastMoments) {
  ring_->BeginDispatch(0, "Feed.bind", At(4900));
  Leave();
  ASSERT_THAT(Recover().value(), SizeIs(1));
  EXPECT_EQ(reports_[0].kind, ReportKind::kExit);
  EXPECT_EQ(reports_[0].end_reason, "unknown");
  EXPECT_EQ(reports_[0].tid, kUi);
  EXPECT_EQ(reports_[0].what, "Feed.bind");
  EXPECT_EQ(reports_[0].duration_ns, 100 * kNsPerMs);
  EXPECT_THAT(reports_[0].verdict.summary,
              HasSubstr("ended without closing, in \"Feed.bind\" for 100 ms"));
  ASSERT_THAT(reports_[0].ends, SizeIs(1));
  EXPECT_EQ(reports_[0].ends[0].count, 1u);
  EXPECT_THAT(Recover().value(), IsEmpty()) << "once";
}

TEST_F(UncleanEndTest, WhileItWaitsHasNoDuration) {
  EXPECT_THAT(RecoverChild(SIGSEGV).value(), SizeIs(1));
  EXPECT_EQ(reports_[0].end_reason, "SIGSEGV");
  EXPECT_EQ(reports_[0].end_evidence, "wait status");
  EXPECT_EQ(reports_[0].duration_ns, 0u);
  EXPECT_THAT(reports_[0].verdict.summary, HasSubstr("ended by SIGSEGV, while waiting"));
}

TEST_F(UncleanEndTest, HasTheReasonThatTheSystemToldAListener) {
  Leave();
  Result<Spool> spool = Spool::Open(folder_.path(), {.min_free_bytes = 0});
  const auto listener = [](const ReportedIncident&, Report* report) {
    report->attributes = {{"exit_reason", "signal"}, {"exit_status", "11"}};
    return true;
  };
  const std::vector<std::string> ids =
      RecoverOrphanRings(folder_.path(), &spool.value(), listener).value();
  ASSERT_THAT(ids, SizeIs(1));
  const Result<proto::Report> report = ReadReportFile(ReportPath(folder_.path(), ids[0]));
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->end_reason(), "SIGSEGV");
  EXPECT_EQ(report->end_evidence(), "ApplicationExitInfo");
  EXPECT_THAT(report->verdict().summary(), HasSubstr("ended by SIGSEGV, while waiting"));
}

TEST_F(UncleanEndTest, IsLeftToTheParentThatKnowsItAsLongAsThatLives) {
  ChildProcess parent;
  ASSERT_EQ(parent.Start({.argv = {"sleep", "60"}}), 0);
  header()->parent_pid = parent.pid();
  header()->parent_start_ticks = ProcessStartTicks(parent.pid());
  Leave();
  EXPECT_THAT(Recover().value(), IsEmpty());
  CollectDeadRings();  // of this user, others too
  EXPECT_TRUE(fs::exists(Path("ring-1-1.jbxring")));
  parent.Kill();
  EXPECT_THAT(Recover().value(), SizeIs(1));
}

TEST_F(UncleanEndTest, IsRecoveredByTheParentItself) {
  header()->parent_pid = getpid();
  header()->parent_start_ticks = ProcessStartTicks(getpid());
  EXPECT_THAT(RecoverChild(SIGKILL).value(), SizeIs(1));
  EXPECT_EQ(reports_[0].end_reason, "SIGKILL");
}

TEST_F(UncleanEndTest, IsNoReportIfItsSessionHadBeenAskedToEnd) {
  Leave();
  const uint64_t alive_ns = header()->heartbeat_ticks.load();  // ticks of a nanosecond
  EXPECT_THAT(Recover(ChildEnd{header()->pid + 1, SIGTERM, alive_ns + kNsPerSecond}).value(),
              IsEmpty());
}

TEST_F(UncleanEndTest, IsAReportIfItsSessionWasAskedToEndLater) {
  ring_->BeginDispatch(0, "Feed.bind", At(4900));
  Leave();
  const uint64_t alive_ns = header()->heartbeat_ticks.load();
  EXPECT_THAT(Recover(ChildEnd{header()->pid + 1, SIGTERM, alive_ns + 2 * kNsPerSecond}).value(),
              SizeIs(1));
}

TEST_F(UncleanEndTest, GivesNoReportIfItsSessionWasAskedToEndWhileItSlept) {
  Leave();
  const uint64_t alive_ns = header()->heartbeat_ticks.load();
  EXPECT_THAT(Recover(ChildEnd{header()->pid + 1, SIGTERM, alive_ns + kMaxHeartbeatGapNs}).value(),
              IsEmpty());
}

TEST_F(UncleanEndTest, IsTheParentsAlsoWhileOthersLook) {
  header()->parent_pid = getpid();
  header()->parent_start_ticks = ProcessStartTicks(getpid());
  const ChildEnd end{header()->pid, SIGKILL};
  Leave("keeps-the-folder");
  const pid_t other = fork();
  if (other == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Result<Spool> spool = Spool::Open(folder_.path(), {.min_free_bytes = 0});
    while (RecoverOrphanRings(folder_.path(), &spool.value(), nullptr).value().empty()) {
    }
    _exit(1);
  }
  for (int round = 0; round < 15; ++round) {
    Leave("ring-being-written");
    fs::rename(Path("ring-being-written"), Path("ring-1-1.jbxring"));
    EXPECT_THAT(Recover(end).value(), SizeIs(1)) << "round " << round;
  }
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
}

TEST_F(UncleanEndTest, ThatWasAskedForIsNone) {
  EXPECT_THAT(RecoverChild(SIGTERM).value(), IsEmpty());
  EXPECT_FALSE(fs::exists(Path("ring-1-1.jbxring")));
}

TEST_F(UncleanEndTest, InABlockIsThatBlocksReportWithTheReason) {
  Blocked(1000);
  EXPECT_THAT(RecoverChild(SIGKILL).value(), SizeIs(1));
  EXPECT_EQ(reports_[0].kind, ReportKind::kRecovered);
  EXPECT_EQ(reports_[0].end_reason, "SIGKILL");
}

TEST_F(UncleanEndTest, AfterAnUnsealedIncidentIsASecondReport) {
  ring_->Dispatch(0, "sync", At(1000), At(2500));
  Incident(RingIncidentState::kFinished, ReportKind::kLag, 0);
  EXPECT_THAT(RecoverChild(SIGSEGV).value(), SizeIs(2));
  EXPECT_EQ(reports_[0].kind, ReportKind::kLag);
  EXPECT_EQ(reports_[0].end_reason, "") << "it was over";
  EXPECT_EQ(reports_[1].kind, ReportKind::kExit);
}

TEST_F(UncleanEndTest, OfARingThatItsProcessClosedIsNone) {
  ring_->BeginDispatch(0, "Feed.bind", At(1000));
  header()->closed.store(static_cast<uint32_t>(RingEnd::kExited));
  Leave();
  EXPECT_THAT(Recover().value(), IsEmpty());
  EXPECT_FALSE(fs::exists(Path("ring-1-1.jbxring")));
}

TEST_F(UncleanEndTest, WithoutAnyMessageIsNone) {
  header()->watched[0].dispatch_count.store(0);
  EXPECT_THAT(RecoverChild(SIGSEGV).value(), IsEmpty());
}

TEST_F(UncleanEndTest, OfAVersionThatClosedFewerRingsIsNone) {
  header()->foreground.store(0);
  EXPECT_THAT(RecoverChild(SIGSEGV).value(), IsEmpty());
}

TEST_F(UncleanEndTest, ThatASpoolHasNoRoomForIsCountedAndLeavesNoRing) {
  Leave();
  Result<Spool> full =
      Spool::Open(folder_.path(), {.max_bytes = 1, .max_reports = 1, .min_free_bytes = 0});
  EXPECT_TRUE(RecoverOrphanRings(folder_.path(), &full.value()).ok());
  EXPECT_THAT(Recover().value(), IsEmpty()) << "the ring is gone";
  const Result<std::string> ends = ReadFile(JoinPath(folder_.path(), ".ends"), 16 << 10);
  ASSERT_TRUE(ends.ok());
  EndBook book;
  SpoolInstant last;
  ASSERT_TRUE(DecodeEnds(ends.value(), &book, &last));
  ASSERT_THAT(book.counts, SizeIs(1));
  EXPECT_EQ(book.counts[0].count, 1u);
}

}  // namespace
}  // namespace jankbox
