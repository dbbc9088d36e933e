// Counts in a drain: before the reports, again until the server has them, and without harm to a
// server that takes none.
#include <gmock/gmock.h>

#include <functional>

#include "report/report.pb.h"
#include "tests/uploader/counts/counted_incident.h"
#include "tests/uploader/counts/process_usage.h"
#include "tests/uploader/spool/spool_fixture.h"
#include "uploader/counts/count_book.h"
#include "uploader/transport/pace_file.h"
#include "uploader/transport/upload_drain.h"

namespace jankbox {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Answers reports with an acknowledgement, and counts as `answer` says.
class CountsTransport : public Transport {
 public:
  using Answer = std::function<TransportReply(const proto::Counts& counts)>;

  explicit CountsTransport(Answer answer) : answer_(std::move(answer)) {}

  TransportReply Post(const UploadRequest& request) override {
    std::string body(request.size_bytes, '\0');
    EXPECT_EQ(pread(request.fd, body.data(), body.size(), 0), static_cast<ssize_t>(body.size()));
    const bool is_counts = request.url.ends_with("/api/v1/counts");
    posted.push_back(is_counts ? "counts" : "report");
    EXPECT_STREQ(request.content_type,
                 is_counts ? "application/x-jankbox-counts" : "application/x-perfetto-trace");
    if (!is_counts) return {.http_status = report_status};
    proto::Counts counts;
    EXPECT_TRUE(counts.ParseFromString(body));
    sent.push_back(counts);
    return answer_(counts);
  }

  int report_status = 400;  // dropped: the drain goes on
  std::vector<std::string> posted;
  std::vector<proto::Counts> sent;

 private:
  Answer answer_;
};

CountsTransport::Answer AnswersWith(proto::CountsReply::Result result) {
  return [result](const proto::Counts& counts) {
    proto::CountsReply reply;
    reply.set_epoch(counts.epoch());
    reply.set_seq(counts.seq());
    reply.set_result(result);
    reply.set_usage_seq(counts.usage_seq());
    return TransportReply{.http_status = 200, .body = reply.SerializeAsString()};
  };
}

CountsTransport::Answer AnswersStatus(int status) {
  return [status](const proto::Counts&) { return TransportReply{.http_status = status}; };
}

class CountsDrainTest : public SpoolTest {
 protected:
  DrainOptions Options(bool on_demand = false) {
    DrainOptions options;
    options.base_url = "http://collector:8750/";
    options.deadline_monotonic_ns = MonotonicNs() + 60 * kNsPerSecond;
    options.on_demand = on_demand;
    return options;
  }
  void Count(const std::string& key) { ASSERT_TRUE(CountBook(dir()).Count(Incident(key)).ok()); }
  void Use(uint64_t messages, const std::string& id = NewUuid(1)) {
    CountBook book(dir());
    book.NoteUsage(Used(messages, id));
    ASSERT_TRUE(book.WriteUsage().ok());
  }
  // As if the last message with usage were some hours old.
  void PassHours() {
    UploadPace pace = LoadUploadPace(dir());
    const uint64_t now_ms = RealtimeNs() / kNsPerMs;
    pace.usage_ms = now_ms - std::min(now_ms % 86'400'000, kUsageEveryMs);
    pace.not_before_ms = pace.server_says_ms = 0;
    ASSERT_TRUE(StoreUploadPace(dir(), pace).ok());
  }
  void ForgetPace() { EXPECT_TRUE(StoreUploadPace(dir(), UploadPace()).ok()); }
};

TEST_F(CountsDrainTest, GoBeforeTheReportsAndOnce) {
  Spool spool = OpenSpool();
  Count("a");
  Count("a");
  Seal(&spool);
  CountsTransport transport(AnswersWith(proto::CountsReply::STORED));
  DrainSummary summary = DrainSpool(&spool, &transport, Options(), {});
  EXPECT_THAT(transport.posted, ElementsAre("counts", "report"));
  ASSERT_THAT(transport.sent, SizeIs(1));
  ASSERT_EQ(transport.sent[0].counters_size(), 1);
  EXPECT_EQ(transport.sent[0].counters(0).incidents(), 2u);
  EXPECT_FALSE(summary.counts_kept);
  summary = DrainSpool(&spool, &transport, Options(), {});
  EXPECT_THAT(transport.posted, SizeIs(2)) << "nothing is new";
  Count("b");
  DrainSpool(&spool, &transport, Options(), {});
  ASSERT_THAT(transport.sent, SizeIs(2));
  EXPECT_EQ(transport.sent[1].counters(0).key(), "b");
  EXPECT_EQ(transport.sent[1].counters_size(), 1);
}

TEST_F(CountsDrainTest, FolderWithoutCountsSendsNone) {
  Spool spool = OpenSpool();
  CountsTransport transport(AnswersWith(proto::CountsReply::STORED));
  EXPECT_FALSE(DrainSpool(&spool, &transport, Options(), {}).counts_kept);
  EXPECT_THAT(transport.posted, IsEmpty());
}

TEST_F(CountsDrainTest, LostAnswerIsTheSameRequestAgain) {
  Spool spool = OpenSpool();
  Count("a");
  Seal(&spool);
  CountsTransport lost(AnswersStatus(0));
  const DrainSummary summary = DrainSpool(&spool, &lost, Options(), {});
  EXPECT_TRUE(summary.counts_kept);
  EXPECT_GT(summary.retry_in_ms, 0u);
  EXPECT_EQ(summary.kept, 1u);
  EXPECT_THAT(lost.posted, ElementsAre("counts")) << "there is no network";
  ForgetPace();
  CountsTransport well(AnswersWith(proto::CountsReply::STORED));
  EXPECT_FALSE(DrainSpool(&spool, &well, Options(), {}).counts_kept);
  EXPECT_EQ(well.sent[0].SerializeAsString(), lost.sent[0].SerializeAsString());
}

TEST_F(CountsDrainTest, CaptivePortalTakesNothing) {
  Spool spool = OpenSpool();
  Count("a");
  CountsTransport portal([](const proto::Counts&) {
    return TransportReply{.http_status = 200, .body = "<html>Welcome to the hotel</html>"};
  });
  const DrainSummary summary = DrainSpool(&spool, &portal, Options(), {});
  EXPECT_TRUE(summary.counts_kept);
  EXPECT_EQ(summary.last_error, "the response is not from a collector");
}

TEST_F(CountsDrainTest, ServerThatTakesNoCountsGetsItsReportsAndIsAskedAgainAfterADay) {
  for (const int status : {400, 404, 405, 413, 415}) {
    Spool spool = OpenSpool();
    ForgetPace();
    Count("a");
    Seal(&spool);
    CountsTransport older(AnswersStatus(status));
    const DrainSummary summary = DrainSpool(&spool, &older, Options(), {});
    EXPECT_THAT(older.posted, ElementsAre("counts", "report")) << status;
    EXPECT_FALSE(summary.counts_kept) << "no reason to try again soon";
    DrainSpool(&spool, &older, Options(), {});
    EXPECT_THAT(older.posted, SizeIs(2)) << status;
    CountsTransport newer(AnswersWith(proto::CountsReply::STORED));
    DrainSpool(&spool, &newer, Options(/*on_demand=*/true), {});
    EXPECT_THAT(newer.posted, ElementsAre("counts")) << "a user waits";
  }
}

TEST_F(CountsDrainTest, ServerThatFailsOnThemGetsTheReports) {
  Spool spool = OpenSpool();
  Count("a");
  Seal(&spool);
  CountsTransport failing(AnswersStatus(500));
  const DrainSummary summary = DrainSpool(&spool, &failing, Options(), {});
  EXPECT_THAT(failing.posted, ElementsAre("counts", "report"));
  EXPECT_TRUE(summary.counts_kept);
  EXPECT_GT(summary.retry_in_ms, 0u);
}

TEST_F(CountsDrainTest, CopyBeginsAnEpoch) {
  Spool spool = OpenSpool();
  Count("a");
  CountsTransport transport(AnswersWith(proto::CountsReply::FORKED));
  EXPECT_FALSE(DrainSpool(&spool, &transport, Options(), {}).counts_kept);
  EXPECT_EQ(CountBook::Read(dir())->begun, "copy");
  Count("a");
  DrainSpool(&spool, &transport, Options(), {});
  ASSERT_THAT(transport.sent, SizeIs(2));
  EXPECT_NE(transport.sent[0].epoch(), transport.sent[1].epoch());
}

TEST_F(CountsDrainTest, ServerThatMissesSomeGetsAllOfThem) {
  Spool spool = OpenSpool();
  Count("a");
  CountsTransport stored(AnswersWith(proto::CountsReply::STORED));
  DrainSpool(&spool, &stored, Options(), {});
  Count("b");
  CountsTransport resend(AnswersWith(proto::CountsReply::RESEND));
  EXPECT_TRUE(DrainSpool(&spool, &resend, Options(), {}).counts_kept);
  DrainSpool(&spool, &stored, Options(), {});
  EXPECT_EQ(stored.sent.back().counters_size(), 2);
}

TEST_F(CountsDrainTest, CountTowardsTheDaysBudget) {
  Spool spool = OpenSpool();
  Count("a");
  UploadPace spent;
  NoteSpent(&spent, RealtimeNs() / kNsPerMs, 5u << 20);
  ASSERT_TRUE(StoreUploadPace(dir(), spent).ok());
  CountsTransport transport(AnswersWith(proto::CountsReply::STORED));
  EXPECT_TRUE(DrainSpool(&spool, &transport, Options(), {}).counts_kept);
  EXPECT_THAT(transport.posted, IsEmpty());
}

TEST_F(CountsDrainTest, UsageGoesAlongAndAlone) {
  Spool spool = OpenSpool();
  const std::string id = NewUuid(1);
  Use(5, id);
  CountsTransport transport(AnswersWith(proto::CountsReply::STORED));
  EXPECT_FALSE(DrainSpool(&spool, &transport, Options(), {}).counts_kept);
  ASSERT_THAT(transport.sent, SizeIs(1));
  EXPECT_EQ(transport.sent[0].counters_size(), 0);
  ASSERT_EQ(transport.sent[0].usage_size(), 1);
  EXPECT_EQ(transport.sent[0].usage(0).messages(), 5u);
  EXPECT_EQ(transport.sent[0].installation(), CountBook::Read(dir())->installation);
  DrainSpool(&spool, &transport, Options(), {});
  EXPECT_THAT(transport.sent, SizeIs(1)) << "nothing is new";
  Use(7, id);
  Count("a");
  DrainSpool(&spool, &transport, Options(), {});
  ASSERT_THAT(transport.sent, SizeIs(2));
  EXPECT_EQ(transport.sent[1].counters_size(), 1);
  EXPECT_EQ(transport.sent[1].usage_size(), 0) << "not that soon";
  EXPECT_EQ(transport.sent[1].installation(), "");
}

TEST_F(CountsDrainTest, UsageOfADayIsAtMostOneKibibyte) {
  Spool spool = OpenSpool();
  const std::string id = NewUuid(1);
  CountsTransport transport(AnswersWith(proto::CountsReply::STORED));
  const uint64_t first_day = RealtimeNs() / kNsPerMs / 86'400'000;
  for (uint64_t i = 1; i <= 40; ++i) {
    Use(i, id);
    DrainSpool(&spool, &transport, Options(), {});
    PassHours();
  }
  const uint64_t days = RealtimeNs() / kNsPerMs / 86'400'000 - first_day + 1;
  size_t bytes = 0;
  for (const proto::Counts& counts : transport.sent) bytes += counts.ByteSizeLong();
  EXPECT_GT(bytes, 0u);
  EXPECT_LE(bytes, 1024 * days);
}

TEST_F(CountsDrainTest, UserWhoWaitsGetsAllUsageSent) {
  Spool spool = OpenSpool();
  UploadPace spent;
  NoteUsageSent(&spent, RealtimeNs() / kNsPerMs, kUsageBytesADay);
  ASSERT_TRUE(StoreUploadPace(dir(), spent).ok());
  Use(5);
  CountsTransport transport(AnswersWith(proto::CountsReply::STORED));
  DrainSpool(&spool, &transport, Options(), {});
  EXPECT_THAT(transport.sent, IsEmpty());
  DrainSpool(&spool, &transport, Options(/*on_demand=*/true), {});
  ASSERT_THAT(transport.sent, SizeIs(1));
  EXPECT_EQ(transport.sent[0].usage_size(), 1);
}

TEST_F(CountsDrainTest, UsageThatIsLostIsNoReasonToTryAgainSoon) {
  Spool spool = OpenSpool();
  Use(5);
  CountsTransport lost(AnswersStatus(0));
  EXPECT_FALSE(DrainSpool(&spool, &lost, Options(), {}).counts_kept);
  ForgetPace();
  CountsTransport well(AnswersWith(proto::CountsReply::STORED));
  DrainSpool(&spool, &well, Options(), {});
  ASSERT_THAT(well.sent, SizeIs(1));
  EXPECT_EQ(well.sent[0].SerializeAsString(), lost.sent[0].SerializeAsString());
}

TEST_F(CountsDrainTest, CollectorOfAnEarlierVersionKeepsTheCounters) {
  Spool spool = OpenSpool();
  Use(5);
  Count("a");
  CountsTransport earlier([](const proto::Counts& counts) {
    proto::CountsReply reply;
    reply.set_epoch(counts.epoch());
    reply.set_seq(counts.seq());
    reply.set_result(proto::CountsReply::STORED);
    return TransportReply{.http_status = 200, .body = reply.SerializeAsString()};
  });
  EXPECT_FALSE(DrainSpool(&spool, &earlier, Options(), {}).counts_kept);
  PassHours();
  CountsTransport transport(AnswersWith(proto::CountsReply::STORED));
  DrainSpool(&spool, &transport, Options(/*on_demand=*/true), {});
  ASSERT_THAT(transport.sent, SizeIs(1));
  EXPECT_EQ(transport.sent[0].counters_size(), 0);
  EXPECT_EQ(transport.sent[0].usage_size(), 1) << "a later collector gets it";
}

TEST_F(CountsDrainTest, WhatAResetLeftGoesFirstAndInTheSamePass) {
  Spool spool = OpenSpool();
  Count("a");
  CountsTransport lost(AnswersStatus(0));
  DrainSpool(&spool, &lost, Options(), {});
  ForgetPace();
  ASSERT_TRUE(CountBook(dir()).Reset().ok());
  Count("b");
  CountsTransport transport(AnswersWith(proto::CountsReply::STORED));
  EXPECT_FALSE(DrainSpool(&spool, &transport, Options(), {}).counts_kept);
  ASSERT_THAT(transport.sent, SizeIs(2));
  EXPECT_EQ(transport.sent[0].epoch(), lost.sent[0].epoch());
  EXPECT_EQ(transport.sent[0].counters(0).key(), "a");
  EXPECT_NE(transport.sent[1].epoch(), transport.sent[0].epoch());
  EXPECT_EQ(transport.sent[1].begun(), "reset");
  EXPECT_EQ(transport.sent[1].counters(0).key(), "b");
  ASSERT_EQ(transport.sent[1].counters_size(), 1);
}

}  // namespace
}  // namespace jankbox
