// What a dead process had not counted is counted once, whether a report of it is written or not.
#include <gmock/gmock.h>
#include <signal.h>

#include "base/uuid.h"
#include "diagnosis/seal/count_report.h"
#include "diagnosis/seal/end_book.h"
#include "report/report_file.h"
#include "tests/diagnosis/seal/recovery_fixture.h"
#include "uploader/counts/count_book.h"
#include "uploader/spool/spool_folder.h"

namespace jankbox {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class RecoveredCountsTest : public RecoveryTest {
 protected:
  // By message; "other" without one.
  std::map<std::string, ReportCounter> Counted() const {
    std::map<std::string, ReportCounter> counted;
    const Result<ReportCountBook> book = CountBook::Read(folder_.path());
    if (!book.ok()) return counted;
    for (const ReportBookedCounter& booked : book->counters) {
      const bool is_other = booked.counter.key == kOtherKey;
      counted[is_other ? kOtherKey : booked.counter.message] = booked.counter;
    }
    return counted;
  }
  uint64_t Incidents(const std::string& message) const {
    const auto counted = Counted();
    const auto found = counted.find(message);
    return found == counted.end() ? 0 : found->second.incidents;
  }
  UncountedIncident Waiting(const std::string& what, uint64_t from_ms, uint64_t to_ms) const {
    return {.id = NewUuid(1),
            .kind = static_cast<uint32_t>(ReportKind::kSlowMessage),
            .tid = kUi,
            .begin_ns = At(from_ms),
            .end_ns = At(to_ms),
            .what = what,
            .total_ns = (to_ms - from_ms) * kNsPerMs,
            .max_ns = (to_ms - from_ms) * kNsPerMs};
  }
};

TEST_F(RecoveredCountsTest, BlockInWhichTheProcessDiedIsCountedOnce) {
  Blocked(1000);
  Leave();
  ASSERT_THAT(Recover().value(), SizeIs(1));
  EXPECT_TRUE(reports_[0].counted);
  EXPECT_EQ(Incidents("Feed.bind"), 1u);
  EXPECT_EQ(Counted()["Feed.bind"].total_ns, 4000 * kNsPerMs);
  EXPECT_EQ(Counted()["Feed.bind"].key, reports_[0].fingerprint);
  EXPECT_THAT(CountBook::Read(folder_.path())->counted_ids, IsEmpty()) << "the ring is gone";
}

TEST_F(RecoveredCountsTest, RecoveryThatIsKilledCountsNothingTwice) {
  Blocked(1000);
  ring_->file()->uncounted().Add(Waiting("tap", 100, 900));
  Leave();
  // The spool has no room: what is counted is counted, and the ring stays.
  Result<Spool> full =
      Spool::Open(folder_.path(), {.max_bytes = 1, .max_reports = 1, .min_free_bytes = 0});
  EXPECT_FALSE(RecoverOrphanRings(folder_.path(), &full.value()).ok());
  EXPECT_EQ(Incidents("Feed.bind"), 1u);
  EXPECT_THAT(Recover().value(), SizeIs(1));
  EXPECT_EQ(Incidents("Feed.bind"), 1u);
  EXPECT_EQ(Incidents("tap"), 1u);
}

TEST_F(RecoveredCountsTest, WhatWasCountedBeforeTheKillIsNotCountedAgain) {
  ring_->Watch(0, kUi);
  Incident(RingIncidentState::kFinished, ReportKind::kLag, 1);
  CountBook book(folder_.path());
  Report counted;
  counted.id = kId;
  counted.kind = ReportKind::kLag;
  counted.fingerprint = "key";
  counted.duration_ns = 1500 * kNsPerMs;
  CountReport(&counted, &book);  // and killed before the ring's note was cleared
  Leave();
  EXPECT_THAT(Recover().value(), SizeIs(1)) << "its report is written";
  EXPECT_EQ(CountBook::Read(folder_.path())->seq, 1u);
}

TEST_F(RecoveredCountsTest, IncidentsThatWaitedAreCountedWithoutAReport) {
  ring_->Watch(0, kUi);
  for (const uint64_t ms : {100, 300, 500}) {
    ring_->file()->uncounted().Add(Waiting("tap", ms, ms + 80));
  }
  ring_->file()->uncounted().Add(Waiting("scroll", 700, 1500));
  Leave();
  EXPECT_THAT(Recover().value(), IsEmpty());
  EXPECT_EQ(Incidents("tap"), 3u);
  EXPECT_EQ(Counted()["tap"].total_ns, 240 * kNsPerMs);
  EXPECT_EQ(Counted()["tap"].max_ns, 80 * kNsPerMs);
  EXPECT_EQ(Counted()["tap"].kind, ReportKind::kSlowMessage);
  EXPECT_EQ(Incidents("scroll"), 1u);
}

TEST_F(RecoveredCountsTest, LastIncidentThatWaitedIsCountedOnceAndReported) {
  ring_->Watch(0, kUi);
  ring_->Dispatch(0, "sync", At(1000), At(2500));
  Incident(RingIncidentState::kFinished, ReportKind::kLag, 0);
  UncountedIncident same = Waiting("sync", 1000, 2500);
  same.id = kId;
  ring_->file()->uncounted().Add(same);
  Leave();
  EXPECT_THAT(Recover().value(), SizeIs(1));
  EXPECT_EQ(Incidents("sync"), 1u);
}

TEST_F(RecoveredCountsTest, SlowMessageThatEndedBeforeTheWatcherLookedIsNotLost) {
  ring_->Watch(0, kUi);
  ring_->Dispatch(0, "sync", At(1000), At(2500));
  Leave();
  EXPECT_THAT(Recover().value(), SizeIs(1));
  EXPECT_EQ(reports_[0].kind, ReportKind::kSlowMessage);
  EXPECT_EQ(reports_[0].what, "sync");
  EXPECT_EQ(reports_[0].duration_ns, 1500 * kNsPerMs);
  EXPECT_EQ(Incidents("sync"), 1u);
}

TEST_F(RecoveredCountsTest, SlowMessageIsNoOtherIncidentThatTheAppReportedFromTheSameMomentOn) {
  ring_->Watch(0, kUi);
  ring_->Dispatch(0, "sync", At(1000), At(2500));
  UncountedIncident by_app = Waiting("job", 1000, 2501);
  by_app.kind = static_cast<uint32_t>(ReportKind::kCustom);
  ring_->file()->uncounted().Add(by_app);
  Leave();
  EXPECT_THAT(Recover().value(), SizeIs(1));
  EXPECT_EQ(Incidents("sync"), 1u);
  EXPECT_EQ(Incidents("job"), 1u);
}

TEST_F(RecoveredCountsTest, AnrThatEndedBeforeTheWatcherLookedKeepsItsId) {
  ring_->Watch(0, kUi);
  ring_->Dispatch(0, "sync", At(1000), At(4500));
  Incident(RingIncidentState::kGrowing, ReportKind::kAnr, 1);
  ring_->BeginDispatch(0, "the next one", At(4990));
  Leave();
  EXPECT_THAT(Recover().value(), testing::ElementsAre(kId));
  EXPECT_EQ(reports_[0].kind, ReportKind::kAnr);
  EXPECT_EQ(reports_[0].revision, 2u);
  EXPECT_EQ(reports_[0].duration_ns, 3500 * kNsPerMs);
  EXPECT_EQ(reports_[0].what, "sync") << "not what ran when the process died";
  EXPECT_EQ(Incidents("sync"), 1u);
}

TEST_F(RecoveredCountsTest, SlowMessageThatTheWatcherSawIsNotRecovered) {
  ring_->Watch(0, kUi);
  ring_->Dispatch(0, "sync", At(1000), At(2500));
  ring_->file()->watched(0).NoteSeen(2, 1500 * kNsPerMs);
  Leave();
  EXPECT_THAT(Recover().value(), IsEmpty());
  EXPECT_EQ(Incidents("sync"), 0u);
}

TEST_F(RecoveredCountsTest, SlowMessagesThatNobodySawAreCountedTogether) {
  ring_->Watch(0, kUi);
  ring_->Dispatch(0, "a", At(0), At(800));
  ring_->file()->watched(0).NoteSeen(2, 800 * kNsPerMs);
  ring_->Dispatch(0, "b", At(1000), At(1900));
  ring_->Dispatch(0, "c", At(2000), At(2700));
  ring_->Dispatch(0, "d", At(3000), At(4000));
  Leave();
  EXPECT_THAT(Recover().value(), SizeIs(1));
  EXPECT_EQ(Incidents("d"), 1u);
  EXPECT_EQ(Incidents(kOtherKey), 2u);
  EXPECT_EQ(Counted()[kOtherKey].total_ns, 1600 * kNsPerMs);
}

TEST_F(RecoveredCountsTest, RingOfAnOlderVersionHasNoUnseenMessages) {
  ring_->Watch(0, kUi);
  ring_->Dispatch(0, "sync", At(1000), At(2500));
  header()->keeps_seen = 0;
  Leave();
  EXPECT_THAT(Recover().value(), IsEmpty());
}

TEST_F(RecoveredCountsTest, WhatListenersSuppressIsCounted) {
  admits_ = false;
  Blocked(1000);
  Leave();
  EXPECT_THAT(Recover().value(), IsEmpty());
  EXPECT_EQ(Incidents("Feed.bind"), 1u);
}

TEST_F(RecoveredCountsTest, EndsBeyondTheDaysReportsAreCounted) {
  ring_->file()->NoteForeground(true);
  ring_->Watch(0, kUi);
  ring_->Dispatch(0, "done", At(100), At(200));
  for (uint64_t end = 0; end < kExitReportsADay + 3; ++end) {
    header()->clock_at_start.ticks += kNsPerMs;  // another process
    Leave();
    ASSERT_TRUE(Recover(ChildEnd{header()->pid, SIGSEGV}).ok());
  }
  EXPECT_EQ(Sealed(), kExitReportsADay);
  const ReportCountBook book = CountBook::Read(folder_.path()).value();
  ASSERT_THAT(book.counters, SizeIs(1)) << "one key, with a report and without";
  EXPECT_EQ(book.counters[0].counter.kind, ReportKind::kExit);
  EXPECT_EQ(book.counters[0].counter.incidents, kExitReportsADay + 3);
  EXPECT_EQ(book.counters[0].counter.key, reports_[0].fingerprint);
}

TEST_F(RecoveredCountsTest, NumbersOfADamagedRingDoNoHarm) {
  ring_->Watch(0, kUi);
  UncountedIncident wrong = Waiting("tap", 100, 200);
  wrong.total_ns = UINT64_MAX;
  wrong.max_ns = UINT64_MAX;
  ring_->file()->uncounted().Add(wrong);
  wrong = Waiting("tap", 900, 100);
  wrong.kind = 4'000'000;
  ring_->file()->uncounted().Add(wrong);
  Leave();
  ASSERT_TRUE(Recover().ok());
  EXPECT_EQ(Incidents("tap"), 2u);
  CountBook book(folder_.path());
  Report report;
  report.id = kId;
  report.kind = ReportKind::kLag;
  report.fingerprint = "key";
  CountReport(&report, &book);
  EXPECT_EQ(CountBook::Read(folder_.path())->begun, "new") << "the book is whole";
}

}  // namespace
}  // namespace jankbox
