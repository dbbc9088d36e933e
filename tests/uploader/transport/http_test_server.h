// A real HTTP server in the test's process, on a port of its own.
#ifndef JANKBOX_TESTS_UPLOADER_TRANSPORT_HTTP_TEST_SERVER_H_
#define JANKBOX_TESTS_UPLOADER_TRANSPORT_HTTP_TEST_SERVER_H_

#include <httplib.h>

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "report/report.pb.h"
#include "report/report_file.h"

namespace jankbox {

class HttpTestServer {
 public:
  using Answer = std::function<void(const httplib::Request&, httplib::Response&)>;

  explicit HttpTestServer(Answer answer) : answer_(std::move(answer)) {
    const auto handler = [this](const httplib::Request& request, httplib::Response& response) {
      const std::lock_guard<std::mutex> lock(mutex_);
      requests_.push_back(request);
      answer_(request, response);
    };
    server_.set_keep_alive_max_count(1);  // stop() would wait for idle connections
    server_.Post(".*", handler);
    server_.Get(".*", handler);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~HttpTestServer() {
    server_.stop();
    thread_.join();
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::vector<httplib::Request> requests() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return requests_;
  }

 private:
  Answer answer_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  std::vector<httplib::Request> requests_;
};

// As a collector answers: what was stored, or 400.
inline void AnswerAsCollector(const httplib::Request& request, httplib::Response& response) {
  const Result<proto::Report> report = ParseReport(request.body);
  if (!report.ok()) {
    response.status = 400;
    return;
  }
  proto::UploadReply reply;
  reply.set_id(report->id());
  reply.set_revision(report->revision());
  reply.set_result(proto::UploadReply::STORED);
  response.set_content(reply.SerializeAsString(), "application/x-protobuf");
}

}  // namespace jankbox

#endif  // JANKBOX_TESTS_UPLOADER_TRANSPORT_HTTP_TEST_SERVER_H_
