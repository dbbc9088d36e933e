// Reports that travel through Java's HttpURLConnection, on a JVM, to the real collector and to
// servers that misbehave.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/android/vm_test.h"
#include "tests/e2e/collector_program.h"
#include "tests/uploader/transport/misbehaving_servers.h"
#include "uploader/transport/transport.h"

namespace jankbox {
namespace {

using ::testing::HasSubstr;

std::string UploadTo(const std::string& url) { return "-Dupload_url=" + url; }

class UploadVmTest : public VmTest {
 protected:
  // What came back of one post.
  struct Reply {
    uint64_t ms = 0;
    int status = 0;
    std::string error;
    std::string retry_after;
    size_t body_bytes = 0;
    std::string body;  // the first 100 bytes
  };

  // Posts `body` with short time-outs; `claimed_bytes` is its length unless given.
  Reply Post(const std::string& url, const std::string& body = "body", size_t claimed_bytes = 0,
             uint64_t cancel_after_ms = 60'000) {
    const std::string path = Folder("body");
    std::ofstream(path, std::ios::binary) << body;
    const Outcome outcome = RunProgram(
        Java("dev.jankbox.HttpProbe",
             {url, path, std::to_string(claimed_bytes == 0 ? body.size() : claimed_bytes), "500",
              "1000", std::to_string(cancel_after_ms)}));
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    std::vector<std::string> lines;
    std::istringstream text(outcome.out);
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    EXPECT_GE(lines.size(), 6u) << outcome.out;
    if (lines.size() < 6) return {};
    return {std::stoull(lines[0]),
            atoi(lines[1].c_str()),
            lines[2],
            lines[3],
            std::stoul(lines[4]),
            lines[5]};
  }

  static void ExpectNoAnswerInTime(const Reply& reply) {
    EXPECT_EQ(reply.status, 0);
    EXPECT_NE(reply.error, "");
    EXPECT_EQ(reply.body_bytes, 0u);
    EXPECT_LT(reply.ms, 5000u);
  }
};

TEST_F(UploadVmTest, SlowMessageIsInTheCollector) {
  CollectorProgram collector(Binary("jankbox-collector"), Folder("data"));
  ASSERT_TRUE(collector.Start());
  const Outcome run =
      RunProgram(JavaScenario("slow", Folder("spool"), {UploadTo(collector.url())}));
  ASSERT_EQ(run.exit_status, 0) << run.out << run.err;
  EXPECT_EQ(JniWarnings(run), 0u) << run.out;
  EXPECT_TRUE(Reports(Folder("spool")).empty());  // acknowledged, so gone
  const Outcome list = RunProgram({Binary("jankbox"), "list", "--json", collector.url()});
  const auto reports = nlohmann::json::parse(list.out, nullptr, false);
  ASSERT_EQ(reports.size(), 1u) << list.out << list.err;
  EXPECT_EQ(reports[0]["kind"], "slow_message");
}

TEST_F(UploadVmTest, ServerThatAsksForPatienceIsAskedOnce) {
  HttpTestServer server([](const httplib::Request&, httplib::Response& response) {
    response.status = 503;
    response.set_header("Retry-After", "3600");
  });
  const Outcome run =
      RunProgram(JavaScenario("long_name", Folder("spool"), {UploadTo(server.url())}));
  ASSERT_EQ(run.exit_status, 0) << run.out << run.err;
  EXPECT_EQ(JniWarnings(run), 0u) << run.out;
  EXPECT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(Reports(Folder("spool")).size(), 2u);
}

TEST_F(UploadVmTest, StopDoesNotWaitForASilentServer) {
  RawServer server(SaysNothing);
  const Outcome run =
      RunProgram(JavaScenario("stop_uploading", Folder("spool"), {UploadTo(server.url())}));
  ASSERT_EQ(run.exit_status, 0) << run.out << run.err;
  EXPECT_EQ(JniWarnings(run), 0u) << run.out;
  EXPECT_GE(server.connections(), 1);
  EXPECT_EQ(Reports(Folder("spool")).size(), 1u);
  const size_t at = run.out.find("stopped ");
  ASSERT_NE(at, std::string::npos) << run.out;
  EXPECT_LT(atoi(run.out.c_str() + at + 8), 5000);
}

TEST_F(UploadVmTest, BodyArrivesWholeWithItsHeaders) {
  HttpTestServer server([](const httplib::Request&, httplib::Response& response) {
    response.set_content("answer", "text/plain");
    response.set_header("Retry-After", "17");
  });
  const std::string body = LargeBody();
  const Reply reply = Post(server.url() + "/api/v1/reports", body);
  EXPECT_EQ(reply.status, 200) << reply.error;
  EXPECT_EQ(reply.body, "answer");
  EXPECT_EQ(reply.retry_after, "17");
  ASSERT_EQ(server.requests().size(), 1u);
  const httplib::Request request = server.requests()[0];
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/api/v1/reports");
  EXPECT_TRUE(request.body == body);
  EXPECT_EQ(request.get_header_value("User-Agent"), "jankbox/test");
  EXPECT_EQ(request.get_header_value("Content-Type"), "application/x-perfetto-trace");
  EXPECT_EQ(request.get_header_value("Content-Length"), "700000");
  EXPECT_EQ(request.get_header_value("Accept-Encoding"), "identity");
  EXPECT_FALSE(request.has_header("Cookie"));
}

TEST_F(UploadVmTest, StatusesArePassedOn) {
  std::atomic<int> status = 0;
  HttpTestServer server([&status](const httplib::Request&, httplib::Response& response) {
    response.status = status;
  });
  for (const int s : {201, 401, 413, 503}) {
    status = s;
    EXPECT_EQ(Post(server.url()).status, s);
  }
}

TEST_F(UploadVmTest, RedirectIsAnAnswerAndNotFollowed) {
  HttpTestServer elsewhere([](const httplib::Request&, httplib::Response&) {});
  HttpTestServer server([&](const httplib::Request&, httplib::Response& response) {
    response.set_redirect(elsewhere.url() + "/stolen", 307);
  });
  EXPECT_EQ(Post(server.url()).status, 307);
  EXPECT_TRUE(elsewhere.requests().empty());
}

TEST_F(UploadVmTest, ReplyOf64KiBIsTheLargest) {
  std::atomic<size_t> size = kMaxReplyBytes;
  HttpTestServer server([&size](const httplib::Request&, httplib::Response& response) {
    response.set_content(std::string(size, 'x'), "text/plain");
  });
  EXPECT_EQ(Post(server.url()).body_bytes, kMaxReplyBytes);
  size = kMaxReplyBytes + 1;
  const Reply reply = Post(server.url());
  ExpectNoAnswerInTime(reply);
  EXPECT_THAT(reply.error, HasSubstr("64 KiB"));
}

TEST_F(UploadVmTest, EndlessAndCompressedRepliesAreNotUnpacked) {
  RawServer endless(NeverEnds);
  ExpectNoAnswerInTime(Post(endless.url()));
  HttpTestServer packed(SendsGzip);
  EXPECT_EQ(Post(packed.url()).body_bytes, 11u);
}

TEST_F(UploadVmTest, SilenceAtEachStageIsBounded) {
  RawServer after_accept(SaysNothing);
  ExpectNoAnswerInTime(Post(after_accept.url()));
  RawServer in_body(SaysHalfAndWaits);
  ExpectNoAnswerInTime(Post(in_body.url()));
  RawServer reads_nothing(ReadsNothing);
  ExpectNoAnswerInTime(Post(reads_nothing.url(), std::string(16 << 20, 'x')));
}

TEST_F(UploadVmTest, CancelledWhileTheServerIsSilentItEnds) {
  RawServer server(SaysNothing);
  const Reply reply = Post(server.url(), "body", 0, 100);
  ExpectNoAnswerInTime(reply);
  EXPECT_THAT(reply.error, HasSubstr("cancelled"));
}

TEST_F(UploadVmTest, TruncatedAndForeignAnswersAreErrors) {
  RawServer cut(SaysHalfAndCloses);
  ExpectNoAnswerInTime(Post(cut.url()));
  RawServer foreign(SpeaksNoHttp);
  ExpectNoAnswerInTime(Post(foreign.url()));
}

TEST_F(UploadVmTest, FileShorterThanPromisedIsNotSentAsWhole) {
  HttpTestServer server([](const httplib::Request&, httplib::Response&) {});
  const Reply reply = Post(server.url(), "short", 100);
  EXPECT_EQ(reply.status, 0);
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(UploadVmTest, OtherSchemesAndPlainServersForHttpsAreErrors) {
  for (const char* url : {"file:///etc/passwd", "ftp://127.0.0.1/", "127.0.0.1:80", "gopher://x"}) {
    ExpectNoAnswerInTime(Post(url));
  }
  HttpTestServer server([](const httplib::Request&, httplib::Response&) {});
  ExpectNoAnswerInTime(Post("https" + server.url().substr(4)));
  EXPECT_TRUE(server.requests().empty());
}

}  // namespace
}  // namespace jankbox
