// The drain with libcurl against real servers: what the network does to a report.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <map>
#include <random>

#include "tests/uploader/spool/spool_fixture.h"
#include "tests/uploader/transport/http_test_server.h"
#include "tests/uploader/transport/raw_server.h"
#include "uploader/transport/curl_transport.h"
#include "uploader/transport/upload_drain.h"

namespace jankbox {
namespace {

using testing::HasSubstr;

class UploadDrainServerTest : public SpoolTest {
 protected:
  UploadDrainServerTest() {
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    unsetenv("ALL_PROXY");
  }

  static DrainOptions Options(const std::string& url) {
    DrainOptions options;
    options.base_url = url;
    options.on_demand = true;
    options.connect_timeout_ms = 500;
    options.total_timeout_ms = 1000;
    options.deadline_monotonic_ns = MonotonicNs() + 20 * kNsPerSecond;
    return options;
  }

  static DrainSummary DrainTo(Spool* spool, const std::string& url) {
    Result<std::unique_ptr<Transport>> transport = NewCurlTransport();
    EXPECT_TRUE(transport.ok());
    return DrainSpool(spool, transport->get(), Options(url), {});
  }
};

TEST_F(UploadDrainServerTest, ReportsArriveByteForByte) {
  Spool spool = OpenSpool();
  std::vector<std::string> bodies;
  for (const size_t size : {600, 50'000, 1'000'000}) {
    const std::string id = NewUuid(RealtimeNs() / kNsPerMs);
    bodies.push_back(SealedBytesOfSize(id, size));
    ASSERT_TRUE(WriteReport(&spool, id, bodies.back()).ok());
    Advance(kNsPerSecond);
  }
  HttpTestServer server(AnswerAsCollector);
  const DrainSummary summary = DrainTo(&spool, server.url());
  EXPECT_EQ(summary.sent, 3u) << summary.last_error;
  EXPECT_EQ(summary.kept, 0u);
  ASSERT_EQ(server.requests().size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(server.requests()[i].body == bodies[i]) << i;
}

TEST_F(UploadDrainServerTest, CaptivePortalIsNoAck) {
  Spool spool = OpenSpool();
  Seal(&spool);
  HttpTestServer portal([](const httplib::Request&, httplib::Response& response) {
    response.set_content("<html>Please log in</html>", "text/html");
  });
  const DrainSummary summary = DrainTo(&spool, portal.url());
  EXPECT_EQ(summary.sent, 0u);
  EXPECT_EQ(summary.kept, 1u);
  EXPECT_THAT(summary.last_error, HasSubstr("not from a collector"));
}

TEST_F(UploadDrainServerTest, RedirectTakesNoReportElsewhere) {
  Spool spool = OpenSpool();
  Seal(&spool);
  HttpTestServer elsewhere(AnswerAsCollector);
  HttpTestServer server([&](const httplib::Request& request, httplib::Response& response) {
    response.set_redirect(elsewhere.url() + request.path, 308);
  });
  EXPECT_EQ(DrainTo(&spool, server.url()).kept, 1u);
  EXPECT_TRUE(elsewhere.requests().empty());
}

TEST_F(UploadDrainServerTest, OfflineKeepsAndNamesTheCause) {
  std::string url;
  {
    RawServer gone([](RawServer*, int) {});
    url = gone.url();
  }
  Spool spool = OpenSpool();
  Seal(&spool);
  const DrainSummary summary = DrainTo(&spool, url);
  EXPECT_EQ(summary.kept, 1u);
  EXPECT_NE(summary.last_error, "");
}

TEST_F(UploadDrainServerTest, HangingServerIsBounded) {
  Spool spool = OpenSpool();
  Seal(&spool);
  Seal(&spool);
  RawServer server([](RawServer* self, int fd) { self->WaitForClose(fd); });
  const uint64_t begin_ns = MonotonicNs();
  const DrainSummary summary = DrainTo(&spool, server.url());
  EXPECT_LT((MonotonicNs() - begin_ns) / kNsPerSecond, 8u);
  EXPECT_EQ(summary.kept, 2u);
}

TEST_F(UploadDrainServerTest, EndlessAnswerIsNoAck) {
  Spool spool = OpenSpool();
  const std::string id = Seal(&spool);
  RawServer server([&id](RawServer* self, int fd) {
    RawServer::ReadHeaders(fd);
    proto::UploadReply reply;
    reply.set_id(id);
    reply.set_result(proto::UploadReply::STORED);
    RawServer::Send(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + reply.SerializeAsString());
    while (!self->stopping() && RawServer::Send(fd, std::string(4096, 'x'))) {
    }
  });
  const DrainSummary summary = DrainTo(&spool, server.url());
  EXPECT_EQ(summary.sent, 0u);
  EXPECT_EQ(summary.kept, 1u);
}

TEST_F(UploadDrainServerTest, LostAckSendsTheSameReportAgain) {
  Spool spool = OpenSpool();
  const std::string id = Seal(&spool);
  {
    RawServer cuts([](RawServer*, int fd) { RawServer::ReadHeaders(fd); });
    EXPECT_EQ(DrainTo(&spool, cuts.url()).kept, 1u);
  }
  // The server had it all the same, and says so the second time.
  HttpTestServer server([](const httplib::Request& request, httplib::Response& response) {
    proto::UploadReply reply;
    reply.set_id(ParseReport(request.body)->id());
    reply.set_result(proto::UploadReply::DUPLICATE);
    response.set_content(reply.SerializeAsString(), "application/x-protobuf");
  });
  EXPECT_EQ(DrainTo(&spool, server.url()).sent, 1u);
  EXPECT_EQ(spool.Counts()->sent, 1u);
  ExpectBalanced(&spool);
}

TEST_F(UploadDrainServerTest, ServerThatComesBackGetsEverything) {
  Spool spool = OpenSpool();
  for (int i = 0; i < 5; ++i) Seal(&spool);
  std::atomic<bool> down = true;
  HttpTestServer server([&down](const httplib::Request& request, httplib::Response& response) {
    if (down) {
      response.status = 503;
    } else {
      AnswerAsCollector(request, response);
    }
  });
  EXPECT_EQ(DrainTo(&spool, server.url()).kept, 5u);
  down = false;
  EXPECT_EQ(DrainTo(&spool, server.url()).sent, 5u);
}

TEST_F(UploadDrainServerTest, ProcessesThatDrainTogetherSendOnce) {
  {
    Spool spool = OpenSpool();
    for (int i = 0; i < 40; ++i) Seal(&spool);
  }
  // Children first: a fork must not copy the server's threads and locks.
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  std::vector<pid_t> children;
  for (int p = 0; p < 3; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      char url[64] = "";
      if (read(go[0], url, sizeof(url)) != sizeof(url)) _exit(1);
      Result<Spool> spool = Spool::Open(dir(), {.min_free_bytes = 0});
      Result<std::unique_ptr<Transport>> transport = NewCurlTransport();
      if (!spool.ok() || !transport.ok()) _exit(2);
      DrainOptions options = Options(url);
      options.total_timeout_ms = 10'000;
      DrainSpool(&spool.value(), transport->get(), options, {});
      _exit(0);
    }
    children.push_back(child);
  }
  HttpTestServer server(AnswerAsCollector);
  char url[64] = "";
  snprintf(url, sizeof(url), "%s", server.url().c_str());
  for (size_t i = 0; i < children.size(); ++i) ASSERT_EQ(write(go[1], url, sizeof(url)), 64);
  for (const pid_t child : children) {
    int wait_status = 0;
    ASSERT_EQ(waitpid(child, &wait_status, 0), child);
    EXPECT_EQ(wait_status, 0);
  }
  close(go[0]);
  close(go[1]);
  std::map<std::string, int> times_sent;
  for (const httplib::Request& request : server.requests()) {
    ++times_sent[ParseReport(request.body)->id()];
  }
  EXPECT_EQ(times_sent.size(), 40u);
  for (const auto& [id, times] : times_sent) EXPECT_EQ(times, 1) << id;
  Spool spool = OpenSpool();
  EXPECT_EQ(spool.Counts()->sent, 40u);
  EXPECT_EQ(spool.Counts()->kept, 0u);
}

TEST_F(UploadDrainServerTest, KilledDrainLosesAndCountsNothingTwice) {
  constexpr size_t kReports = 25;
  {
    Spool spool = OpenSpool();
    for (size_t i = 0; i < kReports; ++i) Seal(&spool);
  }
  // One process serves, so that the children are forked from one without threads.
  int port_pipe[2];
  ASSERT_EQ(pipe(port_pipe), 0);
  const pid_t server_process = fork();
  if (server_process == 0) {
    HttpTestServer server(AnswerAsCollector);
    char url[64] = "";
    snprintf(url, sizeof(url), "%s", server.url().c_str());
    if (write(port_pipe[1], url, sizeof(url)) != sizeof(url)) _exit(1);
    for (;;) pause();
  }
  char url[64] = "";
  ASSERT_EQ(read(port_pipe[0], url, sizeof(url)), 64);
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      Result<Spool> spool = Spool::Open(dir(), {.min_free_bytes = 0});
      if (spool.ok()) DrainTo(&spool.value(), url);
      _exit(0);
    }
    usleep(10'000 + random() % 20'000);
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
  }
  Spool spool = OpenSpool();
  DrainTo(&spool, url);
  kill(server_process, SIGKILL);
  ASSERT_EQ(waitpid(server_process, nullptr, 0), server_process);
  close(port_pipe[0]);
  close(port_pipe[1]);
  const SpoolCounts counts = spool.Counts().value();
  EXPECT_EQ(counts.written, kReports);
  EXPECT_EQ(counts.kept, 0u);
  EXPECT_EQ(counts.sent + counts.fates[static_cast<size_t>(SpoolFate::kPoison)], kReports);
  ExpectBalanced(&spool);
}

}  // namespace
}  // namespace jankbox
