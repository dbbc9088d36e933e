// A TCP server whose every answer the test writes byte by byte: for what no HTTP library would
// send.
#ifndef JANKBOX_TESTS_UPLOADER_TRANSPORT_RAW_SERVER_H_
#define JANKBOX_TESTS_UPLOADER_TRANSPORT_RAW_SERVER_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace jankbox {

class RawServer {
 public:
  // `answer` gets each connection in turn and does not close it; it should end when stopping() is
  // true.
  explicit RawServer(std::function<void(RawServer*, int fd)> answer) : answer_(std::move(answer)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        listen(listener_, 8) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
      abort();
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~RawServer() {
    stopping_.store(true);
    thread_.join();
    close(listener_);
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int connections() const { return connections_.load(); }
  bool stopping() const { return stopping_.load(); }

  // False if the peer is gone.
  static bool Send(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

  // Reads until the blank line that ends the request's headers.
  static std::string ReadHeaders(int fd) {
    std::string headers;
    char c = 0;
    while (!headers.ends_with("\r\n\r\n") && recv(fd, &c, 1, 0) == 1) headers.push_back(c);
    return headers;
  }

  // Returns when the peer has closed or the test is over.
  void WaitForClose(int fd) const {
    char block[4096];
    pollfd readable{fd, POLLIN, 0};
    while (!stopping()) {
      if (poll(&readable, 1, 10) > 0 && recv(fd, block, sizeof(block), 0) <= 0) return;
    }
  }

 private:
  void Serve() {
    pollfd readable{listener_, POLLIN, 0};
    while (!stopping()) {
      if (poll(&readable, 1, 10) <= 0) continue;
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      ++connections_;
      answer_(this, fd);
      close(fd);
    }
  }

  std::function<void(RawServer*, int)> answer_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_UPLOADER_TRANSPORT_RAW_SERVER_H_
