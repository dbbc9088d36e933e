// Rings that a dead process left.
#include "diagnosis/seal/recovery.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/scoped_fd.h"
#include "base/uuid.h"
#include "report/report.h"
#include "tests/diagnosis/seal/recovery_fixture.h"
#include "tests/fakes/fake_ring.h"
#include "tests/fakes/fake_window.h"
#include "tests/uploader/temporary_folder.h"
#include "tracer/ring/process_identity.h"
#include "tracer/ring/ring_place.h"

namespace jankbox {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(RecoveryTest, NoRingIsNoReport) {
  const Result<std::vector<std::string>> ids = Recover();
  ASSERT_TRUE(ids.ok());
  EXPECT_THAT(ids.value(), IsEmpty());
}

TEST_F(RecoveryTest, ProcessThatDiedBlockedIsReportedOnce) {
  Blocked(1000);
  Leave();
  const Result<std::vector<std::string>> ids = Recover();
  ASSERT_TRUE(ids.ok()) << ids.status().message();
  ASSERT_THAT(ids.value(), SizeIs(1));
  EXPECT_TRUE(IsUuid(ids.value()[0]));
  ASSERT_THAT(reports_, SizeIs(1));
  const Report& report = reports_[0];
  EXPECT_EQ(report.id, ids.value()[0]);
  EXPECT_EQ(report.kind, ReportKind::kRecovered);
  EXPECT_EQ(report.revision, 1u);
  EXPECT_EQ(report.what, "Feed.bind");
  EXPECT_EQ(report.tid, kUi);
  EXPECT_EQ(incidents_[0].begin_ns, At(1000));
  EXPECT_EQ(report.duration_ns, 4000 * kNsPerMs) << "until its last sign of life";
  ASSERT_FALSE(report.notes.empty());
  EXPECT_THAT(report.notes[0], HasSubstr("died while this thread was blocked"));
  EXPECT_EQ(Sealed(), 1u);
  EXPECT_FALSE(fs::exists(Path("ring-1-1.jbxring")));
  EXPECT_THAT(Recover().value(), IsEmpty());
}

TEST_F(RecoveryTest, FolderOfRingsGoesWithTheLastOfThem) {
  Blocked(1000);
  Leave();
  const std::string folder = rings();
  ASSERT_TRUE(Recover().ok());
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(RecoveryTest, ProcessThatDiedIdleIsNoReport) {
  ring_->Watch(0, kUi);
  ring_->Dispatch(0, "done", At(100), At(200));
  Leave();
  EXPECT_THAT(Recover().value(), IsEmpty());
  EXPECT_THAT(reports_, IsEmpty());
  EXPECT_FALSE(fs::exists(Path("ring-1-1.jbxring"))) << "and the ring is of no more use";
}

TEST_F(RecoveryTest, BlockBelowTheThresholdIsNoReport) {
  Blocked(4301);  // 699 ms
  Leave();
  EXPECT_THAT(Recover().value(), IsEmpty());
}

TEST_F(RecoveryTest, BlockOfTheThresholdIs) {
  Blocked(4300);
  Leave();
  EXPECT_THAT(Recover().value(), SizeIs(1));
}

TEST_F(RecoveryTest, DispatchThatBeganAfterTheLastSignOfLifeHasNoLength) {
  Blocked(6000);
  Leave();
  EXPECT_THAT(Recover().value(), IsEmpty());
}

TEST_F(RecoveryTest, IncidentThatWasGrowingKeepsItsIdAndGoesOnCounting) {
  Blocked(1000);
  Incident(RingIncidentState::kGrowing, ReportKind::kAnr, 1);
  Leave();
  EXPECT_THAT(Recover().value(), ElementsAre(kId));
  ASSERT_THAT(reports_, SizeIs(1));
  EXPECT_EQ(reports_[0].kind, ReportKind::kAnr) << "a later revision only adds";
  EXPECT_EQ(reports_[0].revision, 2u);
}

TEST_F(RecoveryTest, IncidentThatWasGrowingIsReportedHoweverShort) {
  Blocked(4900);
  Incident(RingIncidentState::kGrowing, ReportKind::kSlowMessage, 0, kId, 4900);
  Leave();
  EXPECT_THAT(Recover().value(), SizeIs(1));
  EXPECT_EQ(reports_[0].revision, 1u);
}

TEST_F(RecoveryTest, FinishedIncidentThatWasNotSealedIsSealedAsItWas) {
  ring_->Watch(0, kUi);
  ring_->Dispatch(0, "sync", At(1000), At(2500));
  ring_->BeginDispatch(0, "the next one", At(4990));
  Incident(RingIncidentState::kFinished, ReportKind::kLag, 0);
  Leave();
  EXPECT_THAT(Recover().value(), ElementsAre(kId));
  ASSERT_THAT(reports_, SizeIs(1));
  EXPECT_EQ(reports_[0].kind, ReportKind::kLag);
  EXPECT_EQ(reports_[0].what, "sync") << "not what ran when the process died";
  EXPECT_EQ(incidents_[0].begin_ns, At(1000));
  EXPECT_EQ(incidents_[0].end_ns, At(2500));
  EXPECT_THAT(reports_[0].notes[0], HasSubstr("died before this report was written"));
}

TEST_F(RecoveryTest, EveryKindOfAFinishedIncidentIsKept) {
  for (const ReportKind kind : {ReportKind::kSlowMessage, ReportKind::kJank, ReportKind::kAnr,
                                ReportKind::kLag, ReportKind::kInputLatency}) {
    reports_.clear();
    ring_->Watch(0, kUi);
    Incident(RingIncidentState::kFinished, kind, 1);
    Leave();
    ASSERT_THAT(Recover().value(), SizeIs(1));
    EXPECT_EQ(reports_[0].kind, kind);
    EXPECT_EQ(reports_[0].revision, 2u);
  }
}

TEST_F(RecoveryTest, KindThatIsNoneIsNotBelieved) {
  for (const uint32_t kind : {0u, 12u, 4'000'000'000u}) {
    reports_.clear();
    ring_->Watch(0, kUi);
    Incident(RingIncidentState::kFinished, static_cast<ReportKind>(kind), 0);
    Leave();
    ASSERT_THAT(Recover().value(), SizeIs(1));
    EXPECT_EQ(reports_[0].kind, ReportKind::kRecovered) << kind;
  }
}

TEST_F(RecoveryTest, IdThatIsNoneIsReplaced) {
  Blocked(1000);
  Incident(RingIncidentState::kGrowing, ReportKind::kAnr, 7, "../../etc/passwd");
  Leave();
  const std::vector<std::string> ids = Recover().value();
  ASSERT_THAT(ids, SizeIs(1));
  EXPECT_TRUE(IsUuid(ids[0])) << "it becomes the name of a file";
  EXPECT_EQ(reports_[0].revision, 1u);
}

TEST_F(RecoveryTest, SameRingHasTheSameIdWheneverItIsRecovered) {
  Blocked(1000);
  Leave();
  const std::vector<std::string> first = Recover().value();
  Leave();  // as if the process had been killed before it removed the ring
  const std::vector<std::string> second = Recover().value();
  EXPECT_EQ(first, second);
  EXPECT_EQ(Sealed(), 1u) << "the same file, written again";
}

TEST_F(RecoveryTest, AnotherBlockHasAnotherId) {
  Blocked(1000);
  Leave();
  const std::vector<std::string> first = Recover().value();
  Blocked(1500);
  Leave();
  const std::vector<std::string> later = Recover().value();
  ASSERT_THAT(later, SizeIs(1));
  EXPECT_NE(first, later);
  header()->process_start_ticks += 1;
  Leave();
  EXPECT_NE(Recover().value(), later) << "the same of another process";
}

TEST_F(RecoveryTest, EachBlockedThreadHasAReport) {
  Blocked(1000, 0);
  Blocked(2000, 3);
  ring_->Watch(5, 99);
  Leave();
  const std::vector<std::string> ids = Recover().value();
  ASSERT_THAT(ids, SizeIs(2));
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_EQ(reports_[1].tid, kUi + 3);
}

TEST_F(RecoveryTest, WhatTheGateRefusesIsNotWrittenAndNotAskedAgain) {
  admits_ = false;
  Blocked(1000);
  Leave();
  const Result<std::vector<std::string>> ids = Recover();
  ASSERT_TRUE(ids.ok());
  EXPECT_THAT(ids.value(), IsEmpty());
  EXPECT_THAT(reports_, SizeIs(1));
  EXPECT_EQ(Sealed(), 0u);
  EXPECT_FALSE(fs::exists(Path("ring-1-1.jbxring")));
}

TEST_F(RecoveryTest, RefusalOfOneThreadIsNoneOfTheOthers) {
  Blocked(1000, 0);
  Blocked(2000, 1);
  Leave();
  Result<Spool> spool = Spool::Open(folder_.path(), {.min_free_bytes = 0});
  const Result<std::vector<std::string>> ids = RecoverOrphanRings(
      folder_.path(), &spool.value(),
      [](const ReportedIncident&, Report* report) { return report->tid != kUi; });
  ASSERT_TRUE(ids.ok());
  EXPECT_THAT(ids.value(), SizeIs(1));
}

TEST_F(RecoveryTest, StoppedBeforeAllWasWritten) {
  Blocked(1000);
  Blocked(1000, 1);  // still runs: nobody died in it
  header()->closed.store(static_cast<uint32_t>(RingEnd::kUnsealed));
  Incident(RingIncidentState::kFinished, ReportKind::kSlowMessage, 0);
  Leave();
  EXPECT_THAT(Recover().value(), ElementsAre(kId));
  ASSERT_THAT(reports_, SizeIs(1));
  EXPECT_EQ(reports_[0].kind, ReportKind::kSlowMessage);
  EXPECT_THAT(reports_[0].notes, testing::Contains(HasSubstr("Jankbox was stopped before")));
}

TEST_F(RecoveryTest, RingThatWasClosedInOrderHasNothingToTell) {
  Blocked(1000);
  header()->closed.store(1);
  Leave();
  EXPECT_THAT(Recover().value(), IsEmpty());
  EXPECT_THAT(reports_, IsEmpty());
  EXPECT_FALSE(fs::exists(Path("ring-1-1.jbxring")));
}

TEST_F(RecoveryTest, RingOfALivingProcessIsLeftAlone) {
  header()->process_start_ticks -= 1;  // this process
  Blocked(1000);
  Leave();
  EXPECT_THAT(Recover().value(), IsEmpty());
  EXPECT_TRUE(fs::exists(Path("ring-1-1.jbxring"))) << "its lock may have gone with closefrom()";
}

TEST_F(RecoveryTest, RingThatAnotherHasLockedIsLeftAlone) {
  Blocked(1000);
  Leave();
  const ScopedFd owner(open(Path("ring-1-1.jbxring").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(flock(owner.get(), LOCK_EX), 0);
  EXPECT_THAT(Recover().value(), IsEmpty());
  EXPECT_TRUE(fs::exists(Path("ring-1-1.jbxring")));
}

TEST_F(RecoveryTest, DamagedRingIsSetAsideOnceItIsOld) {
  Write(Path("ring-1-1.jbxring"), "no ring at all");
  EXPECT_TRUE(Recover().ok()) << "its process may just be filling it";
  EXPECT_TRUE(fs::exists(Path("ring-1-1.jbxring")));
  MakeOld(Path("ring-1-1.jbxring"));
  EXPECT_EQ(Recover().status().code(), StatusCode::kCorrupt);
  EXPECT_FALSE(fs::exists(Path("ring-1-1.jbxring")));
  EXPECT_TRUE(fs::exists(Path("ring-1-1.jbxring.corrupt")));
  EXPECT_TRUE(Recover().ok()) << "once";
}

TEST_F(RecoveryTest, RingOfAProcessThatDiedBeforeItsHeaderGoesAtOnce) {
  Write(Path("ring-1-1.jbxring"), "");
  Write(Path("ring-1-2.jbxring"), std::string(Bytes().size(), '\0'));
  EXPECT_TRUE(Recover().ok());
  EXPECT_FALSE(fs::exists(Path("ring-1-1.jbxring")));
  EXPECT_FALSE(fs::exists(Path("ring-1-2.jbxring")));
}

TEST_F(RecoveryTest, RingThatALivingProcessIsMakingIsLeftAlone) {
  const std::string name = RingFileName(getpid(), ProcessStartTicks(getpid()));
  Write(Path(name), std::string(Bytes().size(), '\0'));
  EXPECT_TRUE(Recover().ok());
  EXPECT_TRUE(fs::exists(Path(name)));
}

TEST_F(RecoveryTest, DamagedRingDoesNotHideTheNextOne) {
  Write(Path("ring-0-0.jbxring"), "no ring at all");
  MakeOld(Path("ring-0-0.jbxring"));
  Blocked(1000);
  Leave("ring-1-1.jbxring");
  EXPECT_THAT(Recover().value(), SizeIs(1));
}

TEST_F(RecoveryTest, RingOfAnotherVersionIsSetAside) {
  Blocked(1000);
  header()->version += 1;
  Leave();
  MakeOld(Path("ring-1-1.jbxring"));
  EXPECT_FALSE(Recover().ok());
  EXPECT_TRUE(fs::exists(Path("ring-1-1.jbxring.corrupt")));
}

TEST_F(RecoveryTest, OtherFilesAreNotRings) {
  Write(Path("notes.txt"), "mine");
  EXPECT_TRUE(Recover().ok());
  EXPECT_TRUE(fs::exists(Path("notes.txt")));
}

TEST_F(RecoveryTest, LinkIsNotFollowed) {
  Blocked(1000);
  Write(folder_ / "elsewhere", Bytes());
  fs::create_symlink(folder_ / "elsewhere", Path("ring-1-1.jbxring"));
  EXPECT_FALSE(Recover().ok());
  EXPECT_THAT(reports_, IsEmpty());
  EXPECT_TRUE(fs::exists(folder_ / "elsewhere"));
}

TEST_F(RecoveryTest, SpoolWithoutRoomKeepsTheRingForTheNextStart) {
  Blocked(1000);
  Leave();
  Result<Spool> spool =
      Spool::Open(folder_.path(), {.max_bytes = 1, .max_reports = 1, .min_free_bytes = 0});
  ASSERT_TRUE(spool.ok());
  EXPECT_FALSE(RecoverOrphanRings(folder_.path(), &spool.value()).ok());
  EXPECT_TRUE(fs::exists(Path("ring-1-1.jbxring")));
  EXPECT_THAT(Recover().value(), SizeIs(1));
}

TEST_F(RecoveryTest, AnyCutOfARingIsHandled) {
  Blocked(1000);
  const std::string bytes = Bytes();
  for (size_t size = 0; size < bytes.size(); size = size < 20'000 ? size + 509 : size * 3 / 2) {
    Write(Path("ring-1-1.jbxring"), bytes.substr(0, size));
    MakeOld(Path("ring-1-1.jbxring"));
    const Result<std::vector<std::string>> ids = Recover();
    EXPECT_FALSE(fs::exists(Path("ring-1-1.jbxring"))) << size << ": recovered or set aside";
    if (ids.ok() && size != 0) {
      EXPECT_THAT(ids.value(), SizeIs(1)) << size;
    }
  }
}

TEST_F(RecoveryTest, RecordedMomentsAreBetweenTheStartAndTheLastReadingOfTheClock) {
  const uint64_t later_ns = header()->clock_at_start.monotonic_ns + 3 * kNsPerSecond;
  header()->calibrated_ticks.store(header()->clock_at_start.ticks + 6 * kNsPerSecond);
  header()->calibrated_monotonic_ns.store(later_ns);  // a tick is half a nanosecond
  header()->heartbeat_ticks.store(header()->clock_at_start.ticks + 4 * kNsPerSecond);
  ring_->Watch(0, kUi);
  ring_->BeginDispatch(0, "x", header()->clock_at_start.ticks + 2 * kNsPerSecond);
  Leave();
  ASSERT_THAT(Recover().value(), SizeIs(1));
  EXPECT_EQ(reports_[0].duration_ns, kNsPerSecond);
  EXPECT_EQ(incidents_[0].begin_ns, begin_ns_ + kNsPerSecond);
}

// What the process recorded about itself before it died.
class RecoveredSamplesTest : public RecoveryTest {
 protected:
  // The watcher's samples, one every 100 ms.
  void Record(const StackSample& sample, uint64_t from_ms, uint64_t to_ms) {
    RingWindow window;
    window.from_ticks = At(0);
    FakeThread watcher = AddThread(&window, 50, "jankbox-watch");
    for (uint64_t ms = from_ms; ms < to_ms; ms += 100) watcher.Sample(sample, At(ms));
    ring_->Store(window);
  }
};

TEST_F(RecoveredSamplesTest, SamplesSayWhatTheThreadWaitedIn) {
  StackSample asleep = FakeSample(kUi, {1});
  asleep.running = false;
  asleep.state = 'D';
  Record(asleep, 1000, 5000);
  Blocked(1000);
  Leave();
  ASSERT_THAT(Recover().value(), SizeIs(1));
  EXPECT_EQ(reports_[0].sample_count, 40u);
  EXPECT_EQ(reports_[0].sampler, "ring");
  EXPECT_EQ(reports_[0].verdict.disk_ns, 4000 * kNsPerMs);
}

TEST_F(RecoveredSamplesTest, OtherThreadsSamplesAreNotItsOwn) {
  Record(FakeSample(kUi + 1, {1}), 2000, 3000);
  Blocked(1000);
  Leave();
  ASSERT_THAT(Recover().value(), SizeIs(1));
  EXPECT_EQ(reports_[0].sample_count, 0u);
  EXPECT_EQ(reports_[0].sampler, "");
  EXPECT_EQ(reports_[0].verdict.unknown_ns, 4000 * kNsPerMs);
}

}  // namespace
}  // namespace jankbox
