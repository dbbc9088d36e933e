#include "uploader/transport/curl_transport.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/memory/memory_room.h"
#include "uploader/transport/curl_library.h"

namespace jankbox {
namespace {

constexpr char kUserAgent[] = "User-Agent: jankbox/" JANKBOX_PROJECT_VERSION;
constexpr size_t kMaxHeaderBytes = 64u << 10;
// Below this rate for so long, a transfer is given up.
constexpr long kMinBytesPerSecond = 64;
constexpr long kMinRateSeconds = 10;

// TLS writes to a closed connection raise SIGPIPE, which belongs to the app: blocked for this
// thread, and taken away if it came.
class ScopedSigpipeBlock {
 public:
  ScopedSigpipeBlock() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    was_pending_ = IsPending();
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &saved_);
  }
  ~ScopedSigpipeBlock() {
    int taken = 0;
    if (!was_pending_ && IsPending()) sigwait(&sigpipe_, &taken);
    pthread_sigmask(SIG_SETMASK, &saved_, nullptr);
  }
  ScopedSigpipeBlock(const ScopedSigpipeBlock&) = delete;
  ScopedSigpipeBlock& operator=(const ScopedSigpipeBlock&) = delete;

 private:
  static bool IsPending() {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
  }

  sigset_t sigpipe_;
  sigset_t saved_;
  bool was_pending_ = false;
};

// One post in progress, as libcurl's callbacks see it.
struct Exchange {
  const std::atomic<bool>* cancelled = nullptr;
  int fd = -1;
  uint64_t offset = 0;
  size_t header_bytes = 0;
  bool reply_too_large = false;
  TransportReply reply;
};

size_t ReadBody(char* buffer, size_t size, size_t count, void* context) {
  Exchange* exchange = static_cast<Exchange*>(context);
  ssize_t n = 0;
  do {
    n = pread(exchange->fd, buffer, size * count, static_cast<off_t>(exchange->offset));
  } while (n < 0 && errno == EINTR);
  if (n < 0) return CURL_READFUNC_ABORT;
  exchange->offset += static_cast<uint64_t>(n);
  return static_cast<size_t>(n);
}

// Asked at least once a second; not 0 ends the transfer.
int IsCancelled(void* context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto* cancelled = static_cast<Exchange*>(context)->cancelled;
  return cancelled != nullptr && cancelled->load(std::memory_order_relaxed) ? 1 : 0;
}

int SeekBody(void* context, curl_off_t offset, int origin) {
  if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_FAIL;
  static_cast<Exchange*>(context)->offset = static_cast<uint64_t>(offset);
  return CURL_SEEKFUNC_OK;
}

size_t TakeBody(char* bytes, size_t size, size_t count, void* context) {
  Exchange* exchange = static_cast<Exchange*>(context);
  const size_t length = size * count;
  if (length > kMaxReplyBytes - exchange->reply.body.size()) {
    exchange->reply_too_large = true;
    return 0;
  }
  exchange->reply.body.append(bytes, length);
  return length;
}

// To libcurl, 0 means for ever.
long Timeout(uint32_t timeout_ms) { return static_cast<long>(std::max(timeout_ms, 1u)); }

// Lower-case `name` with its colon.
bool IsHeader(std::string_view line, std::string_view name) {
  return line.size() >= name.size() &&
         std::equal(name.begin(), name.end(), line.begin(), [](char expected, char c) {
           return expected == (c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
         });
}

size_t TakeHeader(char* bytes, size_t size, size_t count, void* context) {
  Exchange* exchange = static_cast<Exchange*>(context);
  const std::string_view line(bytes, size * count);
  exchange->header_bytes += line.size();
  if (exchange->header_bytes > kMaxHeaderBytes) {
    exchange->reply_too_large = true;
    return 0;
  }
  constexpr std::string_view kRetryAfter = "retry-after:";
  // A new status line begins the headers of another answer: 100 Continue came before.
  if (line.starts_with("HTTP/")) exchange->reply.retry_after.clear();
  if (IsHeader(line, kRetryAfter)) exchange->reply.retry_after = line.substr(kRetryAfter.size());
  return line.size();
}

class CurlTransport : public Transport {
 public:
  CurlTransport(const CurlLibrary* curl, CURL* easy) : curl_(curl), easy_(easy) {
    curl_->easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700  // older ones refuse it
    // Who is cancelled does not wait for a DNS server that does not answer.
    curl_->easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L);
#endif
    curl_->easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);
    curl_->easy_setopt(easy_, CURLOPT_POST, 1L);
    curl_->easy_setopt(easy_, CURLOPT_READFUNCTION, ReadBody);
    curl_->easy_setopt(easy_, CURLOPT_SEEKFUNCTION, SeekBody);
    curl_->easy_setopt(easy_, CURLOPT_WRITEFUNCTION, TakeBody);
    curl_->easy_setopt(easy_, CURLOPT_HEADERFUNCTION, TakeHeader);
    curl_->easy_setopt(easy_, CURLOPT_XFERINFOFUNCTION, IsCancelled);
    curl_->easy_setopt(easy_, CURLOPT_NOPROGRESS, 0L);
    curl_->easy_setopt(easy_, CURLOPT_LOW_SPEED_LIMIT, kMinBytesPerSecond);
    curl_->easy_setopt(easy_, CURLOPT_LOW_SPEED_TIME, kMinRateSeconds);
  }
  ~CurlTransport() override {
    curl_->easy_cleanup(easy_);
    curl_->slist_free_all(headers_);
  }
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;

  TransportReply Post(const UploadRequest& request) override {
    if (!request.url.starts_with("http://") && !request.url.starts_with("https://")) {
      return {.error = request.url + ": not an http or https URL"};
    }
    // What it loads for names and TLS does not bear a failed malloc everywhere.
    constexpr size_t kNeededBytes = 1 << 20;
    if (!HasMemory(kNeededBytes)) return {.error = "no memory"};
    const ScopedSigpipeBlock no_sigpipe;
    SetHeaders(request.content_type);
    Exchange exchange{.cancelled = request.cancelled, .fd = request.fd};
    curl_->easy_setopt(easy_, CURLOPT_URL, request.url.c_str());
    curl_->easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, Timeout(request.connect_timeout_ms));
    curl_->easy_setopt(easy_, CURLOPT_TIMEOUT_MS, Timeout(request.total_timeout_ms));
    curl_->easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.size_bytes));
    curl_->easy_setopt(easy_, CURLOPT_READDATA, &exchange);
    curl_->easy_setopt(easy_, CURLOPT_SEEKDATA, &exchange);
    curl_->easy_setopt(easy_, CURLOPT_WRITEDATA, &exchange);
    curl_->easy_setopt(easy_, CURLOPT_HEADERDATA, &exchange);
    curl_->easy_setopt(easy_, CURLOPT_XFERINFODATA, &exchange);
    return Finish(curl_->easy_perform(easy_), &exchange);
  }

 private:
  void SetHeaders(const std::string& content_type) {
    curl_->slist_free_all(headers_);
    headers_ = nullptr;
    const std::string type = "Content-Type: " + content_type;
    for (const char* header : {kUserAgent, type.c_str(), "Expect:"}) {
      headers_ = curl_->slist_append(headers_, header);
    }
    curl_->easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
  }

  TransportReply Finish(CURLcode code, Exchange* exchange) {
    TransportReply reply = std::move(exchange->reply);
    if (code == CURLE_OK) {
      long status = 0;
      curl_->easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
      reply.http_status = static_cast<int>(status);
      return reply;
    }
    reply.body.clear();
    reply.error = exchange->reply_too_large ? "the response is larger than 64 KiB"
                                            : curl_->easy_strerror(code);
    return reply;
  }

  const CurlLibrary* curl_;
  CURL* easy_;
  curl_slist* headers_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Transport>> NewCurlTransport() {
  Result<const CurlLibrary*> curl = CurlLibrary::Load();
  if (!curl.ok()) return curl.status();
  CURL* easy = curl.value()->easy_init();
  if (easy == nullptr) return Status(StatusCode::kUnavailable, "libcurl cannot create a handle");
  return std::unique_ptr<Transport>(std::make_unique<CurlTransport>(curl.value(), easy));
}

}  // namespace jankbox
