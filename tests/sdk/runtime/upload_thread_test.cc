// When the uploading thread drains the spool and when it waits; what it sends is a function of the
// test's, or the real drain over a transport of the test's.
#include "sdk/runtime/upload_thread.h"

#include <gmock/gmock.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "sdk/api/app_transport.h"
#include "tests/fakes/latch.h"
#include "tests/report/sample_report.h"
#include "tests/uploader/temporary_folder.h"
#include "uploader/spool/spool.h"

namespace jankbox {
namespace {

uint64_t In(uint64_t seconds) { return MonotonicNs() + seconds * kNsPerSecond; }

TEST(RetryAtNs, NothingIsLeftToDo) {
  EXPECT_EQ(RetryAtNs({.sent = 3, .kept = 0, .retry_in_ms = 5000}, 100), UINT64_MAX);
}

TEST(RetryAtNs, ServersAnswerThatNothingWillBeTakenIsFinal) {
  EXPECT_EQ(RetryAtNs({.kept = 3, .retry_in_ms = 5000, .paused = true}, 100), UINT64_MAX);
}

TEST(RetryAtNs, BackOffIsKept) {
  EXPECT_EQ(RetryAtNs({.kept = 1, .retry_in_ms = 90'000}, 100), 100 + 90 * kNsPerSecond);
}

TEST(RetryAtNs, ItIsNeverLessThanASecond) {
  EXPECT_EQ(RetryAtNs({.kept = 1, .retry_in_ms = 0}, 100), 100 + kNsPerSecond);
  EXPECT_EQ(RetryAtNs({.kept = 1, .retry_in_ms = 999}, 100), 100 + kNsPerSecond);
  EXPECT_EQ(RetryAtNs({.kept = 1, .retry_in_ms = 1001}, 100), 100 + 1001 * kNsPerMs);
}

TEST(UploadThread, DrainsAtItsStartForAnEarlierProcess) {
  Latch drained;
  UploadThread upload([&](const std::atomic<bool>*) {
    drained.Open();
    return UINT64_MAX;
  });
  upload.Start();
  EXPECT_TRUE(drained.Wait());
  EXPECT_TRUE(upload.WaitIdle(In(10)));
  upload.Stop(In(10));
  EXPECT_EQ(drained.opened(), 1) << "and then not without a reason";
}

TEST(UploadThread, DrainsAgainForEachReport) {
  Latch drained;
  UploadThread upload([&](const std::atomic<bool>*) {
    drained.Open();
    return UINT64_MAX;
  });
  upload.Start();
  for (int reports = 1; reports <= 3; ++reports) {
    ASSERT_TRUE(drained.Wait(reports));
    ASSERT_TRUE(upload.WaitIdle(In(10)));
    upload.Wake();
  }
  EXPECT_TRUE(drained.Wait(4));
  upload.Stop(In(10));
}

TEST(UploadThread, ReportsThatCameMeanwhileAreOneDrain) {
  Latch began, go_on;
  std::atomic<int> drains{0};
  UploadThread upload([&](const std::atomic<bool>*) {
    ++drains;
    began.Open();
    go_on.Wait();
    return UINT64_MAX;
  });
  upload.Start();
  ASSERT_TRUE(began.Wait());
  for (int i = 0; i < 10; ++i) upload.Wake();
  EXPECT_FALSE(upload.WaitIdle(0)) << "it is at work, and ten more wait";
  go_on.Open();
  EXPECT_TRUE(upload.WaitIdle(In(10)));
  EXPECT_EQ(drains, 2);
  upload.Stop(In(10));
}

TEST(UploadThread, TriesAgainWhenTheBackOffIsOver) {
  Latch drained;
  UploadThread upload([&](const std::atomic<bool>*) {
    drained.Open();
    return drained.opened() < 3 ? MonotonicNs() : UINT64_MAX;  // a back-off that is over at once
  });
  upload.Start();
  EXPECT_TRUE(drained.Wait(3));
  EXPECT_TRUE(upload.WaitIdle(In(10)));
  upload.Stop(In(10));
  EXPECT_EQ(drained.opened(), 3);
}

TEST(UploadThread, NewReportDoesNotWaitForTheBackOff) {
  Latch drained;
  UploadThread upload([&](const std::atomic<bool>*) {
    drained.Open();
    return In(3600);  // its own patience
  });
  upload.Start();
  ASSERT_TRUE(drained.Wait());
  ASSERT_TRUE(upload.WaitIdle(In(10))) << "a back-off is idle";
  upload.Wake();
  EXPECT_TRUE(drained.Wait(2));
  upload.Stop(In(10));
}

TEST(UploadThread, StopEndsABackOffAtOnce) {
  Latch drained;
  UploadThread upload([&](const std::atomic<bool>*) {
    drained.Open();
    return In(3600);
  });
  upload.Start();
  ASSERT_TRUE(drained.Wait());
  const uint64_t before_ns = MonotonicNs();
  upload.Stop(In(3600));
  EXPECT_LT(MonotonicNs() - before_ns, 60 * kNsPerSecond);
}

TEST(UploadThread, StopCancelsADrainThatDoesNotEnd) {
  Latch began;
  UploadThread upload([&](const std::atomic<bool>* cancelled) {
    began.Open();
    while (!cancelled->load()) sched_yield();  // a server that does not answer
    return UINT64_MAX;
  });
  upload.Start();
  ASSERT_TRUE(began.Wait());
  ASSERT_TRUE(upload.Stop(0));  // no time at all is left
}

TEST(UploadThread, StopLetsTheDrainThatWasAskedForEnd) {
  Latch began, go_on;
  std::atomic<bool> was_cancelled{true};
  UploadThread upload([&](const std::atomic<bool>* cancelled) {
    began.Open();
    go_on.Wait();
    was_cancelled = cancelled->load();
    return UINT64_MAX;
  });
  upload.Start();
  ASSERT_TRUE(began.Wait());
  std::thread stopper([&] { upload.Stop(In(60)); });
  go_on.Open();
  stopper.join();
  EXPECT_FALSE(was_cancelled);
}

// The real drain over the app's own transport.
class DrainTest : public testing::Test {
 protected:
  DrainTest() {
    options_.dir = folder_.path();
    options_.upload_url = "http://collector.test";
    SetAppTransport(&Answer, this);
  }
  ~DrainTest() override {
    SetAppTransport(nullptr, nullptr);
    SetUploadNetwork(JANKBOX_NETWORK_FREE);
  }
  static void Answer(void* context, const jankbox_post* post, jankbox_reply* reply) {
    auto* test = static_cast<DrainTest*>(context);
    test->urls_.push_back(post->url);
    reply->http_status = test->status_;
    if (test->status_ == 200) {
      const std::string body = "{\"stored\":true}";
      reply->body_bytes = body.copy(reply->body, reply->body_capacity);
    }
  }
  void Seal() {
    Result<Spool> spool = Spool::Open(folder_.path(), {.min_free_bytes = 0});
    ASSERT_TRUE(spool.ok());
    Report report;
    report.id = NewUuid(RealtimeNs() / kNsPerMs);
    Result<SpoolWriter> file = spool->NewReport(report.id, 1000);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write(SealedBytes(report, "trace")).ok());
    ASSERT_TRUE(file->Seal().ok());
  }
  size_t Kept() {
    Result<Spool> spool = Spool::Open(folder_.path(), {.min_free_bytes = 0});
    return spool->List().value().size();
  }
  void RunOnce() {
    UploadThread upload(options_);
    upload.Start();
    EXPECT_TRUE(upload.WaitIdle(In(20)));
    upload.Stop(In(20));
  }

  TemporaryFolder folder_;
  Options options_;
  int status_ = 200;
  std::vector<std::string> urls_;  // written on the uploading thread, which is joined
};

TEST_F(DrainTest, WhatIsSealedIsSentToTheAppsTransport) {
  Seal();
  RunOnce();
  ASSERT_EQ(urls_.size(), 1u);
  EXPECT_EQ(urls_[0].find("http://collector.test/api/v1/reports"), 0u) << urls_[0];
}

TEST_F(DrainTest, ServersErrorKeepsTheReport) {
  status_ = 503;
  Seal();
  RunOnce();
  EXPECT_EQ(urls_.size(), 1u) << "one attempt, then patience";
  EXPECT_EQ(Kept(), 1u);
}

TEST_F(DrainTest, NothingIsSentWhereTheAppSaysThatThereIsNoNetwork) {
  SetUploadNetwork(JANKBOX_NETWORK_OFF);
  Seal();
  RunOnce();
  EXPECT_TRUE(urls_.empty());
  EXPECT_EQ(Kept(), 1u);
}

TEST_F(DrainTest, EmptySpoolAsksNobody) {
  RunOnce();
  EXPECT_TRUE(urls_.empty());
}

TEST_F(DrainTest, FolderThatCannotBeOpenedIsNoReasonToDie) {
  options_.dir = "/proc/self/no such folder";
  RunOnce();
  EXPECT_TRUE(urls_.empty());
}

}  // namespace
}  // namespace jankbox
