#include "monitors/thread/ui_thread_check.h"

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <thread>

#include "base/own_thread.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Each runs on a thread of its own, which is thrown away with what was done to it.
class UiThreadCheckTest : public ::testing::Test {
 protected:
  template <typename Work>
  void OnThread(Work work) {
    std::thread(work).join();
  }
  std::vector<std::string> Look() { return check_.Look(ReadUiThread(CurrentTid())); }

  UiThreadCheck check_;
};

TEST_F(UiThreadCheckTest, NiceValueIsReportedOnceForEachValue) {
  OnThread([this] {
    const id_t tid = static_cast<id_t>(CurrentTid());
    EXPECT_THAT(Look(), IsEmpty());
    const int nice = getpriority(PRIO_PROCESS, tid);
    ASSERT_LT(nice, 18) << "started with too high a nice value";
    ASSERT_EQ(setpriority(PRIO_PROCESS, tid, 18), 0);
    EXPECT_THAT(Look(), ElementsAre(HasSubstr("nice value is 18, it was " + std::to_string(nice))));
    EXPECT_THAT(Look(), IsEmpty());
    ASSERT_EQ(setpriority(PRIO_PROCESS, tid, 19), 0);
    EXPECT_THAT(Look(), ElementsAre(HasSubstr("nice value is 19, it was 18")));
    EXPECT_THAT(Look(), IsEmpty());
  });
}

TEST_F(UiThreadCheckTest, SchedulerIsReportedOnce) {
  OnThread([this] {
    if (sched_getscheduler(0) != SCHED_OTHER) GTEST_SKIP() << "not started with SCHED_OTHER";
    EXPECT_THAT(Look(), IsEmpty());
    const sched_param none{};
    ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
    EXPECT_THAT(Look(), ElementsAre(HasSubstr("is SCHED_BATCH, it was SCHED_OTHER")));
    EXPECT_THAT(Look(), IsEmpty());
  });
}

TEST_F(UiThreadCheckTest, TimerSlackIsReportedOnce) {
  OnThread([this] {
    ASSERT_EQ(prctl(PR_SET_TIMERSLACK, 50'000, 0, 0, 0), 0);
    EXPECT_THAT(Look(), IsEmpty());
    ASSERT_EQ(prctl(PR_SET_TIMERSLACK, 100'000, 0, 0, 0), 0);
    EXPECT_THAT(Look(), ElementsAre(HasSubstr("timer slack is 100 us")));
    EXPECT_THAT(Look(), IsEmpty());
  });
}

TEST_F(UiThreadCheckTest, ThreadThatWasStartedSoIsNoFinding) {
  UiThreadReading reading;
  reading.nice = 10;
  reading.policy = SCHED_BATCH;
  EXPECT_THAT(check_.Look(reading), IsEmpty());
  reading.nice = 0;
  EXPECT_THAT(check_.Look(reading), IsEmpty());
  reading.nice = std::nullopt;  // it has ended
  reading.policy = std::nullopt;
  EXPECT_THAT(check_.Look(reading), IsEmpty());
}

TEST_F(UiThreadCheckTest, RealTimePolicyThatRtkitGivesIsNamed) {
  UiThreadReading reading;
  reading.policy = SCHED_OTHER;
  EXPECT_THAT(check_.Look(reading), IsEmpty());
  reading.policy = SCHED_RR | SCHED_RESET_ON_FORK;
  EXPECT_THAT(check_.Look(reading), ElementsAre(HasSubstr("is SCHED_RR, it was SCHED_OTHER")));
}

}  // namespace
}  // namespace jankbox
