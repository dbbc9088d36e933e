// The drain's decisions, with a transport whose answers the test writes.
#include "uploader/transport/upload_drain.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/file.h"
#include "report/report.pb.h"
#include "report/report_file.h"
#include "tests/uploader/spool/spool_fixture.h"
#include "uploader/spool/spool_lock.h"
#include "uploader/transport/pace_file.h"

namespace jankbox {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

std::string Ack(const std::string& id) {
  proto::UploadReply reply;
  reply.set_id(id);
  reply.set_revision(1);
  reply.set_result(proto::UploadReply::STORED);
  return reply.SerializeAsString();
}

// Reads each posted file as a collector would and asks `answer` for the reply.
class ScriptedTransport : public Transport {
 public:
  using Answer = std::function<TransportReply(const std::string& id)>;

  explicit ScriptedTransport(Answer answer) : answer_(std::move(answer)) {}

  TransportReply Post(const UploadRequest& request) override {
    requests_.push_back(request);
    std::string file(request.size_bytes, '\0');
    EXPECT_EQ(pread(request.fd, file.data(), file.size(), 0), static_cast<ssize_t>(file.size()));
    const Result<proto::Report> report = ParseReport(file);
    EXPECT_TRUE(report.ok());
    posted_.push_back(report.ok() ? report->id() : "");
    return answer_(posted_.back());
  }

  const std::vector<std::string>& posted() const { return posted_; }
  const std::vector<UploadRequest>& requests() const { return requests_; }

 private:
  Answer answer_;
  std::vector<std::string> posted_;
  std::vector<UploadRequest> requests_;
};

TransportReply Accept(const std::string& id) { return {.http_status = 200, .body = Ack(id)}; }

ScriptedTransport::Answer Always(int status) {
  return [status](const std::string&) { return TransportReply{.http_status = status}; };
}

class UploadDrainTest : public SpoolTest {
 protected:
  DrainOptions Options(uint64_t seconds = 60) {
    DrainOptions options;
    options.base_url = "http://collector:8750";
    options.deadline_monotonic_ns = MonotonicNs() + seconds * kNsPerSecond;
    return options;
  }

  std::vector<std::string> SealThree(Spool* spool) {
    std::vector<std::string> ids;
    for (int i = 0; i < 3; ++i) {
      ids.push_back(Seal(spool));
      Advance(kNsPerSecond);
    }
    return ids;
  }
};

TEST_F(UploadDrainTest, SendsOldestFirstAndRemoves) {
  Spool spool = OpenSpool();
  const std::vector<std::string> ids = SealThree(&spool);
  ScriptedTransport transport(Accept);
  std::vector<uint64_t> sent_at;
  const DrainSummary summary =
      DrainSpool(&spool, &transport, Options(),
                 [&sent_at](const DrainSummary& so_far) { sent_at.push_back(so_far.sent); });
  EXPECT_THAT(transport.posted(), ElementsAreArray(ids));
  EXPECT_EQ(summary.sent, 3u);
  EXPECT_EQ(summary.kept, 0u);
  EXPECT_EQ(summary.dropped, 0u);
  EXPECT_EQ(summary.last_error, "");
  EXPECT_THAT(sent_at, ElementsAre(1, 2, 3));
  EXPECT_EQ(spool.Counts()->sent, 3u);
  EXPECT_EQ(transport.requests()[0].url, "http://collector:8750/api/v1/reports");
  ExpectBalanced(&spool);
}

TEST_F(UploadDrainTest, SlashesAtTheEndOfTheAddressAreOne) {
  Spool spool = OpenSpool();
  Seal(&spool);
  ScriptedTransport transport(Accept);
  DrainOptions options = Options();
  options.base_url = "https://example.org/jank//";
  DrainSpool(&spool, &transport, options, {});
  EXPECT_EQ(transport.requests()[0].url, "https://example.org/jank/api/v1/reports");
}

struct AnswerCase {
  int status;
  uint64_t kept;  // of three
  uint64_t dropped;
  size_t posts;
  bool paused;
  SpoolFate fate;
};

TEST_F(UploadDrainTest, EachAnswerHasItsFate) {
  const AnswerCase cases[] = {
      {0, 3, 0, 1, false, SpoolFate::kKept},      {204, 3, 0, 1, false, SpoolFate::kKept},
      {302, 3, 0, 1, false, SpoolFate::kKept},    {400, 0, 3, 3, false, SpoolFate::kRefused},
      {409, 0, 3, 3, false, SpoolFate::kRefused}, {413, 0, 3, 3, false, SpoolFate::kTooLarge},
      {415, 0, 3, 3, false, SpoolFate::kRefused}, {401, 3, 0, 1, true, SpoolFate::kKept},
      {403, 3, 0, 1, true, SpoolFate::kKept},     {404, 3, 0, 1, true, SpoolFate::kKept},
      {408, 3, 0, 1, false, SpoolFate::kKept},    {429, 3, 0, 1, false, SpoolFate::kKept},
      {503, 3, 0, 1, false, SpoolFate::kKept},    {500, 3, 0, 2, false, SpoolFate::kKept},
  };
  for (const AnswerCase& c : cases) {
    Spool spool = OpenSpool();
    SealThree(&spool);
    ScriptedTransport transport(Always(c.status));
    DrainOptions options = Options();
    options.on_demand = true;
    const DrainSummary summary = DrainSpool(&spool, &transport, options, {});
    EXPECT_EQ(summary.sent, 0u) << c.status;
    EXPECT_EQ(summary.kept, c.kept) << c.status;
    EXPECT_EQ(summary.dropped, c.dropped) << c.status;
    EXPECT_EQ(transport.posted().size(), c.posts) << c.status;
    EXPECT_EQ(summary.paused, c.paused) << c.status;
    EXPECT_EQ(summary.retry_in_ms > 0, c.kept > 0) << c.status;
    EXPECT_EQ(Fate(&spool, c.fate), c.dropped) << c.status;
    EXPECT_EQ(summary.last_error.empty(), c.status == 0) << c.status;
    ExpectBalanced(&spool);
    ASSERT_TRUE(spool.Wipe().ok());
    ASSERT_EQ(unlink((dir() + "/.state").c_str()), 0);
  }
}

TEST_F(UploadDrainTest, AckForAnotherReportIsNone) {
  Spool spool = OpenSpool();
  Seal(&spool);
  ScriptedTransport transport([](const std::string&) { return Accept(NewUuid(1)); });
  const DrainSummary summary = DrainSpool(&spool, &transport, Options(), {});
  EXPECT_EQ(summary.sent, 0u);
  EXPECT_EQ(summary.kept, 1u);
}

TEST_F(UploadDrainTest, OneReportThatBreaksTheServerDoesNotHoldUpTheRest) {
  Spool spool = OpenSpool();
  const std::vector<std::string> ids = SealThree(&spool);
  ScriptedTransport transport([&ids](const std::string& id) {
    return id == ids[0] ? TransportReply{.http_status = 500} : Accept(id);
  });
  const DrainSummary summary = DrainSpool(&spool, &transport, Options(), {});
  EXPECT_EQ(summary.sent, 2u);
  EXPECT_THAT(Ids(&spool), ElementsAre(ids[0]));
  EXPECT_GT(summary.retry_in_ms, 0u);
}

TEST_F(UploadDrainTest, RetryAfterOutlivesTheProcess) {
  Spool spool = OpenSpool();
  Seal(&spool);
  ScriptedTransport busy(
      [](const std::string&) { return TransportReply{.http_status = 429, .retry_after = "600"}; });
  DrainSummary summary = DrainSpool(&spool, &busy, Options(), {});
  EXPECT_GT(summary.retry_in_ms, 590'000u);
  EXPECT_LE(summary.retry_in_ms, 600'000u);

  ScriptedTransport well(Accept);
  DrainOptions options = Options();
  options.on_demand = true;
  summary = DrainSpool(&spool, &well, options, {});
  EXPECT_THAT(well.posted(), IsEmpty());
  EXPECT_EQ(summary.kept, 1u);
  EXPECT_GT(summary.retry_in_ms, 590'000u);
}

TEST_F(UploadDrainTest, OwnBackoffDelaysOnlyTheBackground) {
  Spool spool = OpenSpool();
  Seal(&spool);
  UploadPace pace;
  NoteFailure(&pace, RealtimeNs() / kNsPerMs, std::nullopt, 900);
  for (int i = 0; i < 11; ++i) NoteFailure(&pace, RealtimeNs() / kNsPerMs, std::nullopt, 900'000);
  ASSERT_TRUE(StoreUploadPace(dir(), pace).ok());
  ScriptedTransport transport(Accept);
  EXPECT_GT(DrainSpool(&spool, &transport, Options(), {}).retry_in_ms, 800'000u);
  EXPECT_THAT(transport.posted(), IsEmpty());
  DrainOptions options = Options();
  options.on_demand = true;
  EXPECT_EQ(DrainSpool(&spool, &transport, options, {}).sent, 1u);
  EXPECT_EQ(LoadUploadPace(dir()).failures, 0u);
}

TEST_F(UploadDrainTest, WaitingDrainTriesAgain) {
  Spool spool = OpenSpool();
  SealThree(&spool);
  int answers = 0;
  ScriptedTransport transport([&answers](const std::string& id) {
    return ++answers <= 2 ? TransportReply{.http_status = 503} : Accept(id);
  });
  std::vector<uint64_t> waits;
  DrainOptions options = Options();
  options.on_demand = true;
  options.wait = [&waits](uint64_t ms) {
    waits.push_back(ms);
    return true;
  };
  const DrainSummary summary = DrainSpool(&spool, &transport, options, {});
  EXPECT_EQ(summary.sent, 3u);
  EXPECT_EQ(summary.kept, 0u);
  EXPECT_EQ(summary.retry_in_ms, 0u);
  EXPECT_EQ(waits.size(), 2u);
  for (const uint64_t ms : waits) EXPECT_GE(ms, 100u);
}

TEST_F(UploadDrainTest, WaitThatIsBrokenOffEndsTheDrain) {
  Spool spool = OpenSpool();
  Seal(&spool);
  ScriptedTransport transport(Always(503));
  DrainOptions options = Options();
  options.wait = [](uint64_t) { return false; };
  const DrainSummary summary = DrainSpool(&spool, &transport, options, {});
  EXPECT_EQ(transport.posted().size(), 1u);
  EXPECT_EQ(summary.kept, 1u);
}

TEST_F(UploadDrainTest, NoPostBeginsAfterTheDeadline) {
  Spool spool = OpenSpool();
  SealThree(&spool);
  ScriptedTransport transport(Accept);
  DrainOptions options = Options();
  options.deadline_monotonic_ns = MonotonicNs();
  const DrainSummary summary = DrainSpool(&spool, &transport, options, {});
  EXPECT_THAT(transport.posted(), IsEmpty());
  EXPECT_EQ(summary.kept, 3u);
  EXPECT_NE(summary.last_error, "");
}

TEST_F(UploadDrainTest, NoPostLastsBeyondTheDeadline) {
  Spool spool = OpenSpool();
  Seal(&spool);
  ScriptedTransport transport(Accept);
  DrainSpool(&spool, &transport, Options(3), {});
  EXPECT_LE(transport.requests()[0].total_timeout_ms, 3000u);
  EXPECT_GT(transport.requests()[0].total_timeout_ms, 0u);
}

TEST_F(UploadDrainTest, DaysBudgetKeepsTheRest) {
  Spool spool = OpenSpool();
  for (int i = 0; i < 3; ++i) {
    Seal(&spool, 40'000);
    Advance(kNsPerSecond);
  }
  ScriptedTransport transport(Accept);
  DrainOptions options = Options();
  options.metered = true;
  options.budget.metered_bytes_a_day = 90'000;
  DrainSummary summary = DrainSpool(&spool, &transport, options, {});
  EXPECT_EQ(summary.sent, 2u);
  EXPECT_EQ(summary.kept, 1u);
  EXPECT_GT(summary.retry_in_ms, 0u);
  EXPECT_LE(summary.retry_in_ms, 86'400'000u);
  summary = DrainSpool(&spool, &transport, options, {});
  EXPECT_EQ(summary.sent, 0u);
  options.on_demand = true;
  EXPECT_EQ(DrainSpool(&spool, &transport, options, {}).sent, 1u);
}

TEST_F(UploadDrainTest, ReportAboveTheUploadLimitIsDroppedUnsent) {
  Spool spool = OpenSpool({.max_upload_bytes = 50'000});
  Seal(&spool, 60'000);
  const std::string small = Seal(&spool, 40'000);
  ScriptedTransport transport(Accept);
  const DrainSummary summary = DrainSpool(&spool, &transport, Options(), {});
  EXPECT_THAT(transport.posted(), ElementsAre(small));
  EXPECT_EQ(summary.dropped, 1u);
  EXPECT_EQ(Fate(&spool, SpoolFate::kTooLarge), 1u);
}

TEST_F(UploadDrainTest, FileThatIsNoReportIsNeverSent) {
  Spool spool = OpenSpool();
  const std::string path = dir() + "/" + NewUuid(1) + ".pftrace.zst";
  FILE* file = fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  fputs("password=hunter2", file);
  fclose(file);
  ScriptedTransport transport(Accept);
  const DrainSummary summary = DrainSpool(&spool, &transport, Options(), {});
  EXPECT_THAT(transport.posted(), IsEmpty());
  EXPECT_EQ(summary.dropped, 1u);
  EXPECT_EQ(summary.kept, 0u);
}

TEST_F(UploadDrainTest, LaterRevisionSealedDuringThePostStays) {
  Spool spool = OpenSpool();
  const std::string id = Seal(&spool);
  bool sealed = false;
  ScriptedTransport transport([&](const std::string& posted) {
    if (!sealed) {
      EXPECT_TRUE(WriteReport(&spool, id, SealedBytesOfSize(id, 3000)).ok());
    }
    sealed = true;
    return Accept(posted);
  });
  DrainSummary summary = DrainSpool(&spool, &transport, Options(), {});
  EXPECT_EQ(summary.sent, 1u);
  EXPECT_EQ(summary.kept, 1u);
  summary = DrainSpool(&spool, &transport, Options(), {});
  EXPECT_EQ(summary.kept, 0u);
  EXPECT_EQ(spool.Counts()->sent, 2u);
  ExpectBalanced(&spool);
}

TEST_F(UploadDrainTest, SpoolThatIsBeingDrainedIsLeftAlone) {
  Spool spool = OpenSpool();
  Seal(&spool);
  Result<SpoolLock> other = SpoolLock::Acquire(dir() + "/.drain", 0);
  ASSERT_TRUE(other.ok());
  ScriptedTransport transport(Accept);
  const DrainSummary summary = DrainSpool(&spool, &transport, Options(), {});
  EXPECT_TRUE(summary.busy);
  EXPECT_EQ(summary.kept, 1u);
  EXPECT_THAT(transport.posted(), IsEmpty());
}

TEST_F(UploadDrainTest, WaitingDrainTakesOverFromTheOther) {
  Spool spool = OpenSpool();
  Seal(&spool);
  std::optional<Result<SpoolLock>> other = SpoolLock::Acquire(dir() + "/.drain", 0);
  ASSERT_TRUE(other->ok());
  ScriptedTransport transport(Accept);
  DrainOptions options = Options();
  options.wait = [&other](uint64_t) {
    other.reset();
    return true;
  };
  const DrainSummary summary = DrainSpool(&spool, &transport, options, {});
  EXPECT_FALSE(summary.busy);
  EXPECT_EQ(summary.sent, 1u);
}

TEST_F(UploadDrainTest, ReportWhoseUploadsKillTheProcessIsQuarantined) {
  Spool spool = OpenSpool();
  const std::string poison = Seal(&spool);
  Advance(kNsPerSecond);
  const std::string good = Seal(&spool);
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      ScriptedTransport deadly([](const std::string&) -> TransportReply {
        kill(getpid(), SIGKILL);
        return {};
      });
      DrainSpool(&spool, &deadly, Options(), {});
      _exit(0);
    }
    int wait_status = 0;
    ASSERT_EQ(waitpid(child, &wait_status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(wait_status));
  }
  EXPECT_THAT(Ids(&spool), ElementsAre(poison, good));
  ScriptedTransport transport(Accept);
  const DrainSummary summary = DrainSpool(&spool, &transport, Options(), {});
  EXPECT_THAT(transport.posted(), ElementsAre(good));
  EXPECT_EQ(summary.dropped, 1u);
  EXPECT_EQ(Fate(&spool, SpoolFate::kPoison), 1u);
  ExpectBalanced(&spool);
}

}  // namespace
}  // namespace jankbox
