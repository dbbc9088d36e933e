// How bytes reach a server: one POST at a time. A seam, so that an app may bring its own network
// stack. Threads: one that may block; calls do not overlap.
#ifndef JANKBOX_UPLOADER_TRANSPORT_TRANSPORT_H_
#define JANKBOX_UPLOADER_TRANSPORT_TRANSPORT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace jankbox {

inline constexpr size_t kMaxReplyBytes = 64u << 10;
inline constexpr char kReportContentType[] = "application/x-perfetto-trace";
inline constexpr char kCountsContentType[] = "application/x-jankbox-counts";

struct UploadRequest {
  std::string url;
  int fd = -1;  // read from its beginning with pread; the file's offset stays
  uint64_t size_bytes = 0;
  const char* content_type = kReportContentType;
  uint32_t connect_timeout_ms = 5'000;
  uint32_t total_timeout_ms = 30'000;
  const std::atomic<bool>* cancelled = nullptr;  // set by any thread: the post ends within a second
};

struct TransportReply {
  int http_status = 0;      // 0: no whole answer, and `error` says why
  std::string body;         // at most kMaxReplyBytes, never decompressed
  std::string retry_after;  // the header as it came
  std::string error;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // Returns within request.total_timeout_ms. Redirects are answers, never followed.
  virtual TransportReply Post(const UploadRequest& request) = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_TRANSPORT_TRANSPORT_H_
