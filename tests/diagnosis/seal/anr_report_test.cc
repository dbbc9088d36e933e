#include "diagnosis/seal/anr_report.h"

#include <gmock/gmock.h>

#include "tests/fakes/fake_window.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AnrReportTest : public testing::Test {
 protected:
  AnrReportTest() { request_.kind = ReportKind::kAnr; }

  // "main" (1), which waits for "keeper" (2).
  std::shared_ptr<AnrThreads> TwoThreads(const std::string& wait) {
    auto threads = std::make_shared<AnrThreads>();
    threads->threads.push_back({.told = {.tid = 1, .name = "main", .waits_for_tid = 2}});
    threads->threads.push_back({.told = {.tid = 2, .name = "keeper", .wait = wait}});
    return threads;
  }
  Report Tell(uint64_t begin_ticks = 0) {
    TellAnrThreads(request_, window_, frames_, begin_ticks, &report_);
    return report_;
  }

  SealRequest request_;
  RingWindow window_;
  FrameTable frames_;
  Report report_;
};

TEST_F(AnrReportTest, ThreadsAndWhatIsMissingOfThemAreTold) {
  auto threads = TwoThreads("sleeping");
  threads->left_out = 3;
  threads->not_listed = 4;
  request_.threads = threads;
  const Report report = Tell();
  EXPECT_THAT(report.threads, SizeIs(2));
  EXPECT_EQ(report.threads_without_stack, 3u);
  EXPECT_EQ(report.threads_not_listed, 4u);
}

TEST_F(AnrReportTest, OwnerIsNamedWithItsFunction) {
  auto threads = TwoThreads("sleeping");
  threads->threads[1].stack = 0;
  threads->stacks.push_back(FakeSample(2, {8, 9}));
  frames_[8] = {.module = "libc.so.6"};
  frames_[9] = {.function = "usleep", .module = "libapp.so"};
  request_.threads = threads;
  EXPECT_THAT(Tell().notes, ElementsAre("the lock that thread main (1) waits for belongs to thread "
                                        "keeper (2), state: sleeping, in usleep."));
}

TEST_F(AnrReportTest, OwnerWithoutAStackIsNamedByItsStateAlone) {
  request_.threads = TwoThreads("running");
  EXPECT_THAT(Tell().notes, ElementsAre("the lock that thread main (1) waits for belongs to thread "
                                        "keeper (2), state: running."));
}

TEST_F(AnrReportTest, OwnerThatIsNotListedIsNotGuessed) {
  auto threads = TwoThreads("running");
  threads->threads.pop_back();
  request_.threads = threads;
  EXPECT_THAT(Tell().notes, IsEmpty());
}

TEST_F(AnrReportTest, DeadlockIsInTheSummaryAndInTheNotes) {
  auto threads = std::make_shared<AnrThreads>();
  threads->deadlocks = {"deadlock: a", "deadlock: b"};
  request_.threads = threads;
  report_.verdict.summary = "100 % waiting for a lock";
  const Report report = Tell();
  EXPECT_EQ(report.verdict.summary, "100 % waiting for a lock; deadlock: a; deadlock: b");
  EXPECT_THAT(report.notes, ElementsAre("deadlock: a", "deadlock: b"));
}

TEST_F(AnrReportTest, DeadlockAloneIsTheWholeSummary) {
  auto threads = std::make_shared<AnrThreads>();
  threads->deadlocks = {"deadlock: a"};
  request_.threads = threads;
  EXPECT_EQ(Tell().verdict.summary, "deadlock: a");
}

TEST_F(AnrReportTest, DeadProcesssDeadlocksAreThoseOfItsRing) {
  request_.kind = ReportKind::kRecovered;
  AddThread(&window_, 50, "jankbox-watch").Marker("I|9|deadlock: in the ring", 100);
  EXPECT_THAT(Tell(50).notes, ElementsAre("deadlock: in the ring"));
}

TEST_F(AnrReportTest, LiveThreadsWinOverTheRing) {
  AddThread(&window_, 50, "jankbox-watch").Marker("I|9|deadlock: in the ring", 100);
  request_.threads = std::make_shared<AnrThreads>();
  EXPECT_THAT(Tell(50).notes, IsEmpty());
}

TEST_F(AnrReportTest, OtherKindsTellNothingOfThreads) {
  auto threads = TwoThreads("running");
  threads->deadlocks = {"deadlock: a"};
  request_.threads = threads;
  for (const ReportKind kind : {ReportKind::kSlowMessage, ReportKind::kLag, ReportKind::kJank,
                                ReportKind::kManual, ReportKind::kStartup}) {
    request_.kind = kind;
    const Report report = Tell();
    EXPECT_THAT(report.threads, IsEmpty());
    EXPECT_THAT(report.notes, IsEmpty());
    EXPECT_EQ(report.verdict.summary, "");
  }
}

}  // namespace
}  // namespace jankbox
