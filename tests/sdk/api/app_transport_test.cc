// Uploads through a transport of the app's own, and what the network is said to be good for.
#include "sdk/api/app_transport.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "base/files/fd_table.h"
#include "base/own_thread.h"
#include "report/report.pb.h"
#include "report/report_file.h"
#include "sdk/runtime/upload_thread.h"
#include "tests/uploader/spool/spool_fixture.h"

namespace jankbox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kUrl[] = "https://jank.example.com";

// A collector at the end of a wire that is a function call.
struct FarSide {
  std::vector<std::string> bodies;
  std::vector<std::string> urls;
  std::atomic<int> answers_with{200};
  std::atomic<bool> waits_for_cancel{false};
  std::atomic<bool> waiting{false};

  static void Post(void* context, const jankbox_post* post, jankbox_reply* reply) {
    auto* self = static_cast<FarSide*>(context);
    EXPECT_EQ(FdTable::OfThisThread(), FdTable::kOfTheApp);
    std::string body(post->body_bytes, '\0');
    ASSERT_EQ(pread(post->fd, body.data(), body.size(), 0), static_cast<ssize_t>(body.size()));
    self->urls.emplace_back(post->url);
    self->waiting.store(true);
    while (self->waits_for_cancel.load() && post->is_cancelled(post) == 0) usleep(1000);
    self->waiting.store(false);
    if (self->waits_for_cancel.load()) return;
    reply->http_status = self->answers_with.load();
    if (reply->http_status != 200) return;
    const Result<proto::Report> report = ParseReport(body);
    ASSERT_TRUE(report.ok()) << report.status().message();
    proto::UploadReply answer;
    answer.set_id(report->id());
    answer.set_revision(report->revision());
    answer.set_result(proto::UploadReply::STORED);
    reply->body_bytes = static_cast<uint32_t>(answer.ByteSizeLong());
    ASSERT_TRUE(answer.SerializeToArray(reply->body, static_cast<int>(reply->body_capacity)));
    self->bodies.push_back(body);
  }
};

class AppTransportTest : public SpoolTest {
 protected:
  AppTransportTest() {
    SetAppTransport(FarSide::Post, &far_);
    SetUploadNetwork(JANKBOX_NETWORK_FREE);
    options_.dir = dir();
    options_.upload_url = kUrl;
  }
  ~AppTransportTest() override {
    SetAppTransport(nullptr, nullptr);
    SetUploadNetwork(JANKBOX_NETWORK_FREE);
  }

  static uint64_t In(uint64_t ms) { return MonotonicNs() + ms * kNsPerMs; }

  FarSide far_;
  Options options_;
};

TEST_F(AppTransportTest, ReportsArriveByteForByteAndAreGone) {
  Spool spool = OpenSpool();
  const std::string id = NewUuid(RealtimeNs() / kNsPerMs);
  const std::string bytes = SealedBytesOfSize(id, 50'000);
  ASSERT_TRUE(WriteReport(&spool, id, bytes).ok());
  UploadThread uploads(options_);
  uploads.Start();
  ASSERT_TRUE(uploads.WaitIdle(In(10'000)));
  uploads.Stop(In(2000));
  ASSERT_EQ(far_.bodies.size(), 1u);
  EXPECT_TRUE(far_.bodies[0] == bytes);
  EXPECT_THAT(far_.urls, ElementsAre(std::string(kUrl) + "/api/v1/reports"));
  EXPECT_THAT(Ids(&spool), IsEmpty());
}

// As under jankbox_start(): the body is open in another table than that of the transport.
TEST_F(AppTransportTest, ReportsArriveFromDescriptorsOfJankboxsOwn) {
  Spool spool = OpenSpool();
  const std::string id = NewUuid(RealtimeNs() / kNsPerMs);
  const std::string bytes = SealedBytesOfSize(id, 50'000);
  ASSERT_TRUE(WriteReport(&spool, id, bytes).ok());
  UploadThread uploads(options_);
  OwnThread starter;
  ASSERT_TRUE(starter.Start([&] {
    FdTable::Leave(-1);
    uploads.Start();
  }));
  starter.Join(UINT64_MAX);
  ASSERT_TRUE(uploads.WaitIdle(In(10'000)));
  uploads.Stop(In(2000));
  ASSERT_EQ(far_.bodies.size(), 1u);
  EXPECT_TRUE(far_.bodies[0] == bytes);
}

TEST_F(AppTransportTest, RefusalOfTheServerCountsAsEverywhere) {
  Spool spool = OpenSpool();
  Seal(&spool);
  far_.answers_with = 503;
  UploadThread uploads(options_);
  uploads.Start();
  ASSERT_TRUE(uploads.WaitIdle(In(10'000)));
  uploads.Stop(In(2000));
  EXPECT_EQ(Ids(&spool).size(), 1u);
}

TEST_F(AppTransportTest, NetworkThatIsOffDelaysReportsUntilItIsThere) {
  Spool spool = OpenSpool();
  Seal(&spool);
  SetUploadNetwork(JANKBOX_NETWORK_OFF);
  UploadThread uploads(options_);
  uploads.Start();
  ASSERT_TRUE(uploads.WaitIdle(In(10'000)));
  EXPECT_THAT(far_.urls, IsEmpty());
  EXPECT_EQ(Ids(&spool).size(), 1u);
  SetUploadNetwork(JANKBOX_NETWORK_FREE);
  uploads.Wake();
  ASSERT_TRUE(uploads.WaitIdle(In(10'000)));
  EXPECT_EQ(far_.bodies.size(), 1u);
  uploads.Stop(In(2000));
}

TEST_F(AppTransportTest, MeteredNetworkHasItsSmallerBudget) {
  Spool spool = OpenSpool();
  for (int i = 0; i < 3; ++i) Seal(&spool, 600'000);
  SetUploadNetwork(17);  // unknown: to be careful with
  UploadThread uploads(options_);
  uploads.Start();
  ASSERT_TRUE(uploads.WaitIdle(In(10'000)));
  uploads.Stop(In(2000));
  EXPECT_EQ(far_.bodies.size(), 1u);  // 1 MiB a day
  EXPECT_EQ(Ids(&spool).size(), 2u);
}

TEST_F(AppTransportTest, StopCancelsAPostThatHangs) {
  Spool spool = OpenSpool();
  Seal(&spool);
  far_.waits_for_cancel = true;
  UploadThread uploads(options_);
  uploads.Start();
  while (!far_.waiting.load()) usleep(1000);
  uploads.Stop(In(1500));
  EXPECT_EQ(Ids(&spool).size(), 1u);
}

TEST_F(AppTransportTest, AnswersThatCannotBeTrueAreNone) {
  SetAppTransport(
      [](void*, const jankbox_post*, jankbox_reply* reply) {
        reply->http_status = 200;
        reply->body_bytes = reply->body_capacity + 1;
      },
      nullptr);
  TransportReply answer = NewAppTransport()->Post({.url = kUrl});
  EXPECT_EQ(answer.http_status, 0);
  EXPECT_THAT(answer.error, HasSubstr("64 KiB"));
  SetAppTransport([](void*, const jankbox_post*,
                     jankbox_reply* reply) { memset(reply->error, 'e', sizeof(reply->error)); },
                  nullptr);
  answer = NewAppTransport()->Post({.url = kUrl});
  EXPECT_EQ(answer.http_status, 0);
  EXPECT_EQ(answer.error, std::string(sizeof(jankbox_reply::error), 'e'));
}

}  // namespace
}  // namespace jankbox
