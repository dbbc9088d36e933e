#include "uploader/transport/curl_transport.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>

#include <atomic>

#include "base/clock.h"
#include "base/file.h"
#include "tests/uploader/transport/misbehaving_servers.h"

namespace jankbox {
namespace {

using testing::HasSubstr;

constexpr char kOk[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

class CurlTransportTest : public testing::Test {
 protected:
  CurlTransportTest() {
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    unsetenv("ALL_PROXY");
    Result<std::unique_ptr<Transport>> transport = NewCurlTransport();
    EXPECT_TRUE(transport.ok()) << transport.status().message();
    transport_ = std::move(transport.value());
  }

  // Posts `body` to `url`; with short timeouts if no answer is expected.
  TransportReply PostInVain(const std::string& url, const std::string& body = "body") {
    return Post(url, body, 500, 1000);
  }
  TransportReply Post(const std::string& url, const std::string& body = "body",
                      uint32_t connect_timeout_ms = 30'000, uint32_t total_timeout_ms = 30'000) {
    const ScopedFd fd(memfd_create("body", MFD_CLOEXEC));
    EXPECT_TRUE(WriteFully(fd.get(), body).ok());
    UploadRequest request{.url = url, .fd = fd.get(), .size_bytes = body.size()};
    request.connect_timeout_ms = connect_timeout_ms;
    request.total_timeout_ms = total_timeout_ms;
    const uint64_t begin_ns = MonotonicNs();
    TransportReply reply = transport_->Post(request);
    elapsed_ms_ = (MonotonicNs() - begin_ns) / kNsPerMs;
    return reply;
  }

  void ExpectNoAnswerInTime(const TransportReply& reply) {
    EXPECT_EQ(reply.http_status, 0);
    EXPECT_NE(reply.error, "");
    EXPECT_EQ(reply.body, "");
    EXPECT_LT(elapsed_ms_, 5000u);
  }

  std::unique_ptr<Transport> transport_;
  uint64_t elapsed_ms_ = 0;
};

TEST_F(CurlTransportTest, BodyArrivesWholeWithItsHeaders) {
  HttpTestServer server([](const httplib::Request&, httplib::Response& response) {
    response.set_content("answer", "text/plain");
    response.set_header("Retry-After", "17");
  });
  const std::string body = LargeBody();
  const TransportReply reply = Post(server.url() + "/api/v1/reports", body);
  EXPECT_EQ(reply.http_status, 200) << reply.error;
  EXPECT_EQ(reply.body, "answer");
  EXPECT_THAT(reply.retry_after, HasSubstr("17"));
  ASSERT_EQ(server.requests().size(), 1u);
  const httplib::Request request = server.requests()[0];
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/api/v1/reports");
  EXPECT_TRUE(request.body == body);
  EXPECT_EQ(request.get_header_value("User-Agent"), "jankbox/" JANKBOX_PROJECT_VERSION);
  EXPECT_EQ(request.get_header_value("Content-Type"), "application/x-perfetto-trace");
  EXPECT_EQ(request.get_header_value("Content-Length"), "700000");
  EXPECT_FALSE(request.has_header("Expect"));
  EXPECT_FALSE(request.has_header("Accept-Encoding"));
  EXPECT_FALSE(request.has_header("Cookie"));
}

TEST_F(CurlTransportTest, SecondPostUsesTheConnectionAgain) {
  RawServer server([](RawServer* self, int fd) {
    for (int i = 0; i < 2; ++i) {
      const std::string headers = RawServer::ReadHeaders(fd);
      char body[4];
      if (headers.empty() || recv(fd, body, 4, MSG_WAITALL) != 4) return;
      RawServer::Send(fd, kOk);
    }
    self->WaitForClose(fd);
  });
  EXPECT_EQ(Post(server.url()).http_status, 200);
  EXPECT_EQ(Post(server.url()).http_status, 200);
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(CurlTransportTest, EveryStatusIsPassedOn) {
  std::atomic<int> status = 0;
  HttpTestServer server([&status](const httplib::Request&, httplib::Response& response) {
    response.status = status;
  });
  for (const int s : {201, 400, 401, 403, 409, 413, 415, 429, 500, 503}) {
    status = s;
    EXPECT_EQ(Post(server.url()).http_status, s);
  }
}

TEST_F(CurlTransportTest, RedirectIsAnAnswerAndNotFollowed) {
  HttpTestServer elsewhere([](const httplib::Request&, httplib::Response&) {});
  HttpTestServer server([&](const httplib::Request&, httplib::Response& response) {
    response.set_redirect(elsewhere.url() + "/stolen", 307);
  });
  EXPECT_EQ(Post(server.url()).http_status, 307);
  EXPECT_EQ(server.requests().size(), 1u);
  EXPECT_TRUE(elsewhere.requests().empty());
}

TEST_F(CurlTransportTest, ReplyOf64KiBIsTheLargest) {
  std::atomic<size_t> size = 0;
  HttpTestServer server([&size](const httplib::Request&, httplib::Response& response) {
    response.set_content(std::string(size, 'x'), "text/plain");
  });
  size = kMaxReplyBytes;
  EXPECT_EQ(Post(server.url()).body.size(), kMaxReplyBytes);
  size = kMaxReplyBytes + 1;
  const TransportReply reply = Post(server.url());
  ExpectNoAnswerInTime(reply);
  EXPECT_THAT(reply.error, HasSubstr("64 KiB"));
}

TEST_F(CurlTransportTest, EndlessReplyIsCut) {
  RawServer server(NeverEnds);
  ExpectNoAnswerInTime(PostInVain(server.url()));
}

TEST_F(CurlTransportTest, EndlessHeadersAreCut) {
  RawServer server([](RawServer* self, int fd) {
    RawServer::ReadHeaders(fd);
    RawServer::Send(fd, "HTTP/1.1 200 OK\r\n");
    while (!self->stopping() &&
           RawServer::Send(fd, "X-Filler: " + std::string(1000, 'x') + "\r\n")) {
    }
  });
  ExpectNoAnswerInTime(PostInVain(server.url()));
}

TEST_F(CurlTransportTest, CompressedReplyStaysAsItCame) {
  HttpTestServer server(SendsGzip);
  EXPECT_EQ(Post(server.url()).body, std::string("\x1f\x8b\x08\0garbage", 11));
}

TEST_F(CurlTransportTest, RefusedConnectionIsAnErrorAtOnce) {
  std::string url;
  {
    RawServer server([](RawServer*, int) {});
    url = server.url();
  }
  const TransportReply reply = Post(url);
  ExpectNoAnswerInTime(reply);
  EXPECT_THAT(reply.error, HasSubstr("connect to server"));  // no timeout
}

TEST_F(CurlTransportTest, SilenceAtEachStageIsBounded) {
  RawServer after_accept(SaysNothing);
  ExpectNoAnswerInTime(PostInVain(after_accept.url()));
  RawServer in_status_line([](RawServer* self, int fd) {
    RawServer::ReadHeaders(fd);
    RawServer::Send(fd, "HTTP/1.1 20");
    self->WaitForClose(fd);
  });
  ExpectNoAnswerInTime(PostInVain(in_status_line.url()));
  RawServer in_body(SaysHalfAndWaits);
  ExpectNoAnswerInTime(PostInVain(in_body.url()));
}

TEST_F(CurlTransportTest, CancelledWhileTheServerIsSilentItEnds) {
  std::atomic<bool> cancelled{false};
  RawServer server([&](RawServer* self, int fd) {
    cancelled.store(true);
    self->WaitForClose(fd);
  });
  Result<std::unique_ptr<Transport>> transport = NewCurlTransport();
  ASSERT_TRUE(transport.ok());
  UploadRequest request{.url = server.url(), .fd = 0, .size_bytes = 0};
  request.cancelled = &cancelled;
  request.total_timeout_ms = 600'000;  // the test's own time-out would come first
  const TransportReply reply = transport.value()->Post(request);
  EXPECT_EQ(reply.http_status, 0);
  EXPECT_NE(reply.error, "");
}

TEST_F(CurlTransportTest, ServerThatReadsNothingIsBounded) {
  RawServer server(ReadsNothing);
  ExpectNoAnswerInTime(PostInVain(server.url(), std::string(16 << 20, 'x')));
}

TEST_F(CurlTransportTest, DripIsBounded) {
  RawServer server([](RawServer* self, int fd) {
    RawServer::ReadHeaders(fd);
    RawServer::Send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n");
    pollfd none{-1, 0, 0};
    while (!self->stopping() && RawServer::Send(fd, "x")) poll(&none, 1, 20);
  });
  ExpectNoAnswerInTime(PostInVain(server.url()));
}

TEST_F(CurlTransportTest, TruncatedAndForeignAnswersAreErrors) {
  RawServer cut(SaysHalfAndCloses);
  ExpectNoAnswerInTime(PostInVain(cut.url()));
  RawServer foreign(SpeaksNoHttp);
  ExpectNoAnswerInTime(PostInVain(foreign.url()));
  RawServer reset([](RawServer*, int fd) {
    const linger now{1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  });
  ExpectNoAnswerInTime(PostInVain(reset.url(), std::string(4 << 20, 'x')));
}

TEST_F(CurlTransportTest, FileShorterThanPromisedIsNotSentAsWhole) {
  HttpTestServer server([](const httplib::Request&, httplib::Response&) {});
  const ScopedFd fd(memfd_create("body", MFD_CLOEXEC));
  ASSERT_TRUE(WriteFully(fd.get(), "short").ok());
  const TransportReply reply = transport_->Post({.url = server.url(),
                                                 .fd = fd.get(),
                                                 .size_bytes = 100,
                                                 .connect_timeout_ms = 500,
                                                 .total_timeout_ms = 1000});
  EXPECT_EQ(reply.http_status, 0);
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(CurlTransportTest, OffsetOfTheFileStays) {
  HttpTestServer server([](const httplib::Request&, httplib::Response&) {});
  const ScopedFd fd(memfd_create("body", MFD_CLOEXEC));
  ASSERT_TRUE(WriteFully(fd.get(), "0123456789").ok());
  ASSERT_EQ(lseek(fd.get(), 4, SEEK_SET), 4);
  const UploadRequest request{.url = server.url(), .fd = fd.get(), .size_bytes = 10};
  EXPECT_EQ(transport_->Post(request).http_status, 200);
  EXPECT_EQ(server.requests()[0].body, "0123456789");
  EXPECT_EQ(lseek(fd.get(), 0, SEEK_CUR), 4);
}

TEST_F(CurlTransportTest, OtherSchemesAreRefused) {
  for (const char* url :
       {"file:///etc/passwd", "ftp://127.0.0.1/", "127.0.0.1:80", "", "gopher://x"}) {
    const TransportReply reply = Post(url);
    EXPECT_EQ(reply.http_status, 0) << url;
    EXPECT_THAT(reply.error, HasSubstr("not an http or https URL")) << url;
  }
}

TEST_F(CurlTransportTest, PlainServerIsNoFallbackForHttps) {
  HttpTestServer server([](const httplib::Request&, httplib::Response&) {});
  ExpectNoAnswerInTime(PostInVain("https" + server.url().substr(4)));
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(CurlTransportTest, SignalsAndMaskOfTheAppStay) {
  struct sigaction before {};
  ASSERT_EQ(sigaction(SIGPIPE, nullptr, &before), 0);
  RawServer server([](RawServer*, int) {});
  Post(server.url(), std::string(4 << 20, 'x'));
  struct sigaction after {};
  ASSERT_EQ(sigaction(SIGPIPE, nullptr, &after), 0);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
  sigset_t mask;
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &mask), 0);
  EXPECT_EQ(sigismember(&mask, SIGPIPE), 0);
}

TEST(CurlLibrary, IsNotInTheAppsOwnScope) {
  ASSERT_TRUE(NewCurlTransport().ok());
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "curl_easy_perform"), nullptr);
}

}  // namespace
}  // namespace jankbox
