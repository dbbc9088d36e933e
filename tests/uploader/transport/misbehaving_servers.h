// Answers of servers that do what no transport may trust, for RawServer and HttpTestServer.
#ifndef JANKBOX_TESTS_UPLOADER_TRANSPORT_MISBEHAVING_SERVERS_H_
#define JANKBOX_TESTS_UPLOADER_TRANSPORT_MISBEHAVING_SERVERS_H_

#include <string>
#include <thread>

#include "tests/uploader/transport/http_test_server.h"
#include "tests/uploader/transport/raw_server.h"

namespace jankbox {

inline void SaysNothing(RawServer* server, int fd) { server->WaitForClose(fd); }

inline void SaysHalfAndWaits(RawServer* server, int fd) {
  RawServer::ReadHeaders(fd);
  RawServer::Send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
  server->WaitForClose(fd);
}

inline void SaysHalfAndCloses(RawServer*, int fd) {
  RawServer::ReadHeaders(fd);
  RawServer::Send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
}

inline void SpeaksNoHttp(RawServer*, int fd) { RawServer::Send(fd, "SSH-2.0-OpenSSH_9.2\r\n"); }

inline void NeverEnds(RawServer* server, int fd) {
  RawServer::ReadHeaders(fd);
  RawServer::Send(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
  while (!server->stopping() && RawServer::Send(fd, std::string(4096, 'x'))) {
  }
}

inline void ReadsNothing(RawServer* server, int) {
  while (!server->stopping()) std::this_thread::yield();
}

inline void SendsGzip(const httplib::Request&, httplib::Response& response) {
  response.set_content(std::string("\x1f\x8b\x08\0garbage", 11), "text/plain");
  response.set_header("Content-Encoding", "gzip");
}

// 700,000 bytes that are no text.
inline std::string LargeBody() {
  std::string body(700'000, '\0');
  for (size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7 + i / 251);
  return body;
}

}  // namespace jankbox

#endif  // JANKBOX_TESTS_UPLOADER_TRANSPORT_MISBEHAVING_SERVERS_H_
