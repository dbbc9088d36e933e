// What must be refused, with the server none the worse for it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>

#include "tests/collector/collector_process.h"
#include "tests/collector/sealed_report.h"

namespace jankbox::collector {
namespace {

class HostileRequestTest : public CollectorTest {
 protected:
  void ExpectAliveAndEmpty() {
    EXPECT_EQ(NewClient().Get("/healthz")->body, "ok");
    EXPECT_EQ(GetJson("/api/v1/reports").at("reports").size(), 0u);
    EXPECT_TRUE(BlobNames().empty());
  }

  // A connection over which `bytes` have been sent as they are.
  ScopedFd Send(const std::string& bytes) {
    ScopedFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(collector_->port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    return fd;
  }

  // Everything that comes back until the server closes.
  std::string Exchange(const std::string& bytes) {
    const ScopedFd fd = Send(bytes);
    std::string answer;
    char block[4096];
    ssize_t size = 0;
    while ((size = recv(fd.get(), block, sizeof(block), 0)) > 0) {
      answer.append(block, static_cast<size_t>(size));
    }
    return answer;
  }

  static int Count(const std::string& text, const std::string& what) {
    int count = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
      ++count;
    }
    return count;
  }

  uint64_t PeakResidentKib() {
    std::ifstream status("/proc/" + std::to_string(collector_->pid()) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6));
    }
    return 0;
  }
};

TEST_F(HostileRequestTest, TruncatedReportsAreBadRequests) {
  const std::string body = Seal(SampleReport(), Noise(5'000, 1));
  httplib::Client client = NewClient();
  for (size_t length = 0; length < body.size(); length += 97) {
    const httplib::Result answer = PostReport(&client, body.substr(0, length));
    ASSERT_TRUE(answer) << length;
    EXPECT_EQ(answer->status, 400) << length;
  }
  ExpectAliveAndEmpty();
}

TEST_F(HostileRequestTest, GarbageIsABadRequest) {
  httplib::Client client = NewClient();
  for (uint64_t seed = 0; seed < 200; ++seed) {
    EXPECT_EQ(PostReport(&client, Noise(seed * 7, seed))->status, 400) << seed;
  }
  ExpectAliveAndEmpty();
}

TEST_F(HostileRequestTest, DamagedReportsAreRefusedOrStoredWhole) {
  const std::string body = Seal(SampleReport());
  httplib::Client client = NewClient();
  for (size_t at = 0; at < body.size(); ++at) {
    std::string damaged = body;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x81);
    const httplib::Result answer = PostReport(&client, damaged);
    ASSERT_TRUE(answer) << at;
    EXPECT_TRUE(answer->status == 400 || answer->status == 409 || answer->status == 200) << at;
  }
  EXPECT_EQ(NewClient().Get("/healthz")->body, "ok");
}

TEST_F(HostileRequestTest, ReportBeforeTheTraceIsABadRequest) {
  const std::string message = SampleReport().SerializeAsString();
  EXPECT_EQ(Upload(SkippableFrameOf(message) + ZstdFrame("trace"))->status, 400);
  EXPECT_EQ(Upload(SkippableFrameOf(message))->status, 400);
  EXPECT_EQ(Upload(ZstdFrame("trace"))->status, 400);
  ExpectAliveAndEmpty();
}

TEST_F(HostileRequestTest, WindowOf128MebibytesIsABadRequest) {
  const std::string trailer = SkippableFrameOf(SampleReport().SerializeAsString());
  EXPECT_EQ(Upload(ZstdFrame(Noise(1'000, 1), 27) + trailer)->status, 400);
  ExpectAliveAndEmpty();
}

TEST_F(HostileRequestTest, BombIsNotDecompressed) {
  const std::string body = Seal(SampleReport(), std::string(256u << 20, '\0'));
  ASSERT_LT(body.size(), 100'000u);
  ASSERT_EQ(NewClient().Get("/healthz")->body, "ok");
  const uint64_t before_kib = PeakResidentKib();
  const httplib::Result answer = Upload(body);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->status == 200 || answer->status == 400) << answer->status;
  EXPECT_LT(PeakResidentKib() - before_kib, 16u << 10);
}

TEST_F(HostileRequestTest, IdThatIsNoUuidIsABadRequest) {
  for (const char* id :
       {"", "../../../../etc/passwd", "../01890a5d-ac96-774b-bcce-b302099a8057",
        "01890A5D-AC96-774B-BCCE-B302099A8057", "01890a5d-ac96-774b-bcce-b302099a805"}) {
    proto::Report report = SampleReport();
    report.set_id(id);
    EXPECT_EQ(Upload(Seal(report))->status, 400) << id;
  }
  proto::Report unrevised = SampleReport();
  unrevised.set_revision(0);
  EXPECT_EQ(Upload(Seal(unrevised))->status, 400);
  ExpectAliveAndEmpty();
}

TEST_F(HostileRequestTest, RepeatedMessagesAreCapped) {
  proto::Report report = SampleReport();
  for (int i = 0; i < 100'000; ++i) report.add_top_frames();
  EXPECT_EQ(Upload(Seal(report))->status, 400);
  proto::Report own = SampleReport();
  for (int i = 0; i < 100'000; ++i) own.mutable_identity()->add_own_frames();
  EXPECT_EQ(Upload(Seal(own))->status, 400);
  ExpectAliveAndEmpty();
}

TEST_F(HostileRequestTest, TooLargeIs413) {
  const std::string body = Seal(SampleReport(), Noise(17u << 20, 1));
  const httplib::Result answer = Upload(body);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 413);
  httplib::Client chunked = NewClient();
  const httplib::Result endless = chunked.Post(
      "/api/v1/reports",
      [&](size_t offset, httplib::DataSink& sink) {
        if (offset < body.size()) {
          sink.write(body.data() + offset, std::min<size_t>(1 << 16, body.size() - offset));
        } else {
          sink.done();
        }
        return true;
      },
      "application/x-perfetto-trace");
  ASSERT_TRUE(endless);
  EXPECT_EQ(endless->status, 413);
  ExpectAliveAndEmpty();
}

TEST_F(HostileRequestTest, BodyWithoutEndIsCutOff) {
  httplib::Client client = NewClient();
  const std::string block(1 << 20, 'x');
  size_t sent = 0;
  client.Post(
      "/api/v1/reports",
      [&](size_t, httplib::DataSink& sink) {
        sent += block.size();
        return sent < (512u << 20) && sink.write(block.data(), block.size());
      },
      "application/x-perfetto-trace");
  EXPECT_LT(sent, 256u << 20);
  EXPECT_LT(PeakResidentKib(), 256u << 10);
  ExpectAliveAndEmpty();
}

TEST_F(HostileRequestTest, PathsOutsideTheApiAreNotFound) {
  ASSERT_EQ(UploadResult(Seal(SampleReport())), proto::UploadReply::STORED);
  for (const char* path :
       {"/api/v1/reports/../../reports.db", "/api/v1/reports/..%2f..%2freports.db/trace",
        "/api/v1/reports/%2e%2e/%2e%2e/etc/passwd", "/../../etc/passwd", "/reports.db", "/blobs/",
        "/api/v1/reports/%00/trace", "/api/v1/reports//trace", "/api/v1/reports/", "/app.js/..",
        "//", "/api/v1/reports/01890a5d-ac96-774b-bcce-b302099a8057",
        "/api/v1/reports/01890a5d-ac96-774b-bcce-b302099a8057/trace"}) {
    const std::string answer = Exchange(
        std::string("GET ") + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 404 ")) << path << "\n" << answer;
  }
  EXPECT_EQ(NewClient().Get("/" + std::string(8000, 'a'))->status, 404);
}

TEST_F(HostileRequestTest, ForeignHostsAreRefused) {
  for (const char* host : {"evil.example", "evil.example:8750", "localhost.evil.example",
                           "127.0.0.1.evil.example", "192.168.1.5", "", "[::1", "localhost:80x"}) {
    const std::string answer =
        Exchange(std::string("GET /api/v1/reports HTTP/1.1\r\nHost: ") + host + "\r\n\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 403 ")) << host << "\n" << answer;
  }
  EXPECT_TRUE(Exchange("GET /healthz HTTP/1.0\r\n\r\n").find(" 403 ") != std::string::npos);
  for (const char* host : {"localhost", "LOCALHOST:1", "127.0.0.1:8750", "[::1]:8750", "[::1]"}) {
    const std::string answer = Exchange(std::string("GET /healthz HTTP/1.1\r\nHost: ") + host +
                                        "\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << host << "\n" << answer;
  }
}

// What a page of a foreign site can send without asking: simple content types.
TEST_F(HostileRequestTest, FormPostsOfForeignSitesAreRefused) {
  const std::string body = Seal(SampleReport());
  httplib::Client client = NewClient();
  for (const char* type : {"text/plain", "application/x-www-form-urlencoded",
                           "multipart/form-data; boundary=x", "application/octet-stream"}) {
    const httplib::Result answer = client.Post("/api/v1/reports", body, type);
    ASSERT_TRUE(answer) << type;
    EXPECT_EQ(answer->status, 415) << type;
  }
  const std::string preflight = Exchange(
      "OPTIONS /api/v1/reports HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n"
      "Access-Control-Request-Method: POST\r\n\r\n");
  EXPECT_EQ(preflight.find("Access-Control-Allow"), std::string::npos);
  EXPECT_EQ(client.Delete("/api/v1/reports")->status, 405);
  EXPECT_EQ(client.Put("/api/v1/reports", body, "text/plain")->status, 405);
  EXPECT_EQ(client.Post("/elsewhere", body, "text/plain")->status, 404);
  ExpectAliveAndEmpty();
}

// The body of a refused request is never read as the next request.
TEST_F(HostileRequestTest, RefusedBodyIsNotTakenForARequest) {
  const std::string inner = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string length = "Content-Length: " + std::to_string(inner.size()) + "\r\n\r\n";
  for (const std::string& head :
       {std::string(
            "POST /api/v1/reports HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"),
        std::string("POST /x HTTP/1.1\r\nHost: localhost\r\n"),
        std::string("PUT /x HTTP/1.1\r\nHost: localhost\r\n"),
        std::string("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n"),
        std::string("GET /healthz HTTP/1.1\r\nHost: localhost\r\n")}) {
    // The library reads 4096 bytes at a time and forgets what is left of them between requests: the
    // body must begin the next read.
    const size_t unpadded = head.size() + length.size() + strlen("X-Pad: \r\n");
    const std::string pad = "X-Pad: " + std::string(4096 - unpadded, 'x') + "\r\n";
    const std::string answer = Exchange(head + pad + length + inner);
    EXPECT_EQ(Count(answer, "HTTP/1.1 "), 1) << head << answer;
    EXPECT_EQ(Count(answer, "HTTP/1.1 4"), 1) << head << answer;
  }
}

TEST_F(HostileRequestTest, CompressedUploadIsRefusedUnread) {
  httplib::Client client = NewClient();
  const httplib::Result answer = client.Post("/api/v1/reports", {{"Content-Encoding", "gzip"}},
                                             Seal(SampleReport()), "application/x-perfetto-trace");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 415);
  ExpectAliveAndEmpty();
}

TEST_F(HostileRequestTest, RangesAreIgnored) {
  const proto::Report report = SampleReport();
  const std::string body = Seal(report, Noise(1'000, 1));
  ASSERT_EQ(UploadResult(body), proto::UploadReply::STORED);
  for (const char* range : {"bytes=0-3", "bytes=0-,0-,0-,0-", "bytes=99999999-", "bytes=-5"}) {
    const httplib::Result answer =
        NewClient().Get("/api/v1/reports/" + report.id() + "/trace", {{"Range", range}});
    ASSERT_TRUE(answer) << range;
    EXPECT_EQ(answer->status, 200) << range;
    EXPECT_EQ(answer->body, body) << range;
  }
}

TEST_F(HostileRequestTest, UnfinishedRequestDoesNotHoldUpTheStop) {
  const ScopedFd unfinished = Send(
      "POST /api/v1/reports HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
      "Content-Type: application/x-perfetto-trace\r\nExpect: 100-continue\r\n\r\nabc");
  char answer[12];
  ASSERT_EQ(recv(unfinished.get(), answer, sizeof(answer), MSG_WAITALL), 12);
  ASSERT_EQ(std::string(answer, sizeof(answer)), "HTTP/1.1 100");  // it waits for the body now
  const auto begin = std::chrono::steady_clock::now();
  const int wait_status = collector_->End(SIGTERM);
  EXPECT_TRUE(WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) << wait_status;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(9));
}

TEST_F(HostileRequestTest, EveryAnswerCarriesTheSecurityHeaders) {
  for (const char* path : {"/", "/app.js", "/api/v1/reports", "/missing"}) {
    const httplib::Result answer = NewClient().Get(path);
    ASSERT_TRUE(answer) << path;
    EXPECT_EQ(answer->get_header_value("X-Content-Type-Options"), "nosniff") << path;
    const std::string policy = answer->get_header_value("Content-Security-Policy");
    EXPECT_NE(policy.find("default-src 'self'"), std::string::npos) << path;
    EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos) << path;
    EXPECT_EQ(policy.find("unsafe-inline"), std::string::npos) << path;
  }
}

}  // namespace
}  // namespace jankbox::collector
