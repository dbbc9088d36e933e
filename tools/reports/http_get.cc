#include "tools/reports/http_get.h"

#include <curl/curl.h>

#include <memory>

namespace jankbox::tools {
namespace {

constexpr long kConnectTimeoutSeconds = 5;
constexpr long kTotalTimeoutSeconds = 60;

struct Body {
  std::string bytes;
  size_t max_bytes = 0;
  bool too_large = false;
};

size_t Append(char* bytes, size_t size, size_t count, void* opaque) {
  Body* body = static_cast<Body*>(opaque);
  const size_t length = size * count;
  body->too_large = length > body->max_bytes - body->bytes.size();
  if (body->too_large) return 0;
  body->bytes.append(bytes, length);
  return length;
}

struct FreeHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};

}  // namespace

Result<std::string> HttpGet(const std::string& url, size_t max_bytes) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, FreeHandle> curl(initialised == CURLE_OK ? curl_easy_init()
                                                                       : nullptr);
  if (curl == nullptr) return Status(StatusCode::kUnavailable, "libcurl cannot be initialized");
  Body body;
  body.max_bytes = max_bytes;
  char reason[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, kConnectTimeoutSeconds);
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, kTotalTimeoutSeconds);
  curl_easy_setopt(curl.get(), CURLOPT_USERAGENT, "jankbox");
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, reason);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, Append);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &body);

  const CURLcode code = curl_easy_perform(curl.get());
  if (body.too_large) {
    return Status(StatusCode::kInvalidArgument,
                  url + ": the response is larger than " + std::to_string(max_bytes) + " bytes");
  }
  if (code != CURLE_OK) {
    const std::string text = *reason != '\0' ? reason : curl_easy_strerror(code);
    return Status(StatusCode::kUnavailable, url + ": " + text);
  }
  long http_status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &http_status);
  if (http_status != 200) {
    return Status(http_status == 404 ? StatusCode::kNotFound : StatusCode::kIo,
                  url + ": the server answered " + std::to_string(http_status));
  }
  return std::move(body.bytes);
}

}  // namespace jankbox::tools
