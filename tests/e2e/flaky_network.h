// A network in front of a collector that fails every third request: by turns it closes the
// connection before it reads anything, loses the answer to a request that was stored, and answers
// 503.
#ifndef JANKBOX_TESTS_E2E_FLAKY_NETWORK_H_
#define JANKBOX_TESTS_E2E_FLAKY_NETWORK_H_

#include <httplib.h>

#include <atomic>
#include <string>

#include "tests/uploader/transport/raw_server.h"

namespace jankbox {

class FlakyNetwork {
 public:
  explicit FlakyNetwork(const std::string& collector_url)
      : collector_(collector_url), server_([this](RawServer*, int fd) { Answer(fd); }) {}

  std::string url() const { return server_.url(); }
  int failed_before_reading() const { return failed_before_reading_.load(); }
  int answers_lost() const { return answers_lost_.load(); }
  int unavailable() const { return unavailable_.load(); }

 private:
  void Answer(int fd) {
    const int request = requests_++;
    const int failure = request % 3 == 2 ? request / 3 % 3 : -1;
    if (failure == 0) {
      ++failed_before_reading_;
      return;
    }
    const std::string headers = RawServer::ReadHeaders(fd);
    if (headers.empty()) return;  // the client only looked whether somebody listens
    const std::string body = ReadBody(fd, headers);
    if (failure == 1) {
      ++unavailable_;
      RawServer::Send(fd,
                      "HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      return;
    }
    const size_t path = headers.find(' ') + 1;
    const httplib::Result stored =
        collector_.Post(headers.substr(path, headers.find(' ', path) - path), body,
                        HeaderOf(headers, "Content-Type"));
    if (failure == 2) {
      ++answers_lost_;
      return;
    }
    if (!stored) return;
    RawServer::Send(fd, "HTTP/1.1 " + std::to_string(stored->status) +
                            " Answer\r\nContent-Type: application/x-protobuf\r\nContent-Length: " +
                            std::to_string(stored->body.size()) + "\r\nConnection: close\r\n\r\n" +
                            stored->body);
  }

  static std::string HeaderOf(const std::string& headers, const std::string& name) {
    const size_t at = headers.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const size_t value = at + name.size() + 4;
    return headers.substr(value, headers.find("\r\n", value) - value);
  }

  static std::string ReadBody(int fd, const std::string& headers) {
    std::string body(strtoul(HeaderOf(headers, "Content-Length").c_str(), nullptr, 10), '\0');
    for (size_t at = 0; at < body.size();) {
      const ssize_t n = recv(fd, body.data() + at, body.size() - at, 0);
      if (n <= 0) return "";
      at += static_cast<size_t>(n);
    }
    return body;
  }

  httplib::Client collector_;
  std::atomic<int> requests_{0};
  std::atomic<int> failed_before_reading_{0};
  std::atomic<int> answers_lost_{0};
  std::atomic<int> unavailable_{0};
  RawServer server_;  // last: its thread uses the others
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_E2E_FLAKY_NETWORK_H_
