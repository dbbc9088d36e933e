#include "tools/symbolize/symbol_post.h"

#include <curl/curl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace jankbox::tools {
namespace {

using nlohmann::json;

constexpr size_t kMaxAnswerBytes = 1 << 20;
constexpr long kConnectTimeoutSeconds = 10;
constexpr long kMaxSilentSeconds = 900;  // the collector reads the file before it answers
constexpr char kType[] = "Content-Type: application/x-jankbox-symbols";

struct FreeCurl {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  void operator()(FILE* file) const { fclose(file); }
};

size_t AppendAnswer(char* bytes, size_t size, size_t count, void* opaque) {
  std::string* answer = static_cast<std::string*>(opaque);
  const size_t length = size * count;
  if (length > kMaxAnswerBytes - answer->size()) return 0;
  answer->append(bytes, length);
  return length;
}

int Progress(void* opaque, curl_off_t, curl_off_t, curl_off_t total, curl_off_t sent) {
  const auto& on_progress = *static_cast<const std::function<void(double)>*>(opaque);
  on_progress(total == 0 ? 0 : static_cast<double>(sent) / static_cast<double>(total));
  return 0;
}

std::string ErrorOf(long http_status, const std::string& answer) {
  const json told = json::parse(answer, nullptr, /*allow_exceptions=*/false);
  if (told.is_object() && told.contains("error") && told["error"].is_string()) {
    return told["error"].get<std::string>();
  }
  if (http_status == 404 || http_status == 405) return "the server takes no symbols";
  return "the server answered " + std::to_string(http_status);
}

struct Transfer {
  std::unique_ptr<FILE, FreeCurl> file;
  curl_off_t size = 0;
  std::unique_ptr<curl_slist, FreeCurl> headers;
  std::string answer;
  char reason[CURL_ERROR_SIZE] = "";
};

void SetUp(CURL* handle, const std::string& url, Transfer* transfer) {
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, kConnectTimeoutSeconds);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, kMaxSilentSeconds);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "jankbox");
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, transfer->reason);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, transfer->headers.get());
  curl_easy_setopt(handle, CURLOPT_POST, 1L);
  curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, transfer->size);
  curl_easy_setopt(handle, CURLOPT_READDATA, transfer->file.get());
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, AppendAnswer);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer->answer);
}

}  // namespace

Result<json> PostSymbols(const std::string& url, const std::string& path,
                         const std::function<void(double done)>& on_progress) {
  Transfer transfer;
  transfer.file.reset(fopen(path.c_str(), "rbe"));
  struct stat st {};
  if (transfer.file == nullptr || fstat(fileno(transfer.file.get()), &st) != 0) {
    return Status(StatusCode::kIo, strerror(errno));
  }
  transfer.size = st.st_size;
  const std::unique_ptr<CURL, FreeCurl> curl(curl_easy_init());
  transfer.headers.reset(curl_slist_append(nullptr, kType));
  if (curl == nullptr || transfer.headers == nullptr) {
    return Status(StatusCode::kUnavailable, "libcurl cannot be initialized");
  }
  // Else libcurl waits a second for a server that does not know it.
  curl_slist_append(transfer.headers.get(), "Expect:");
  SetUp(curl.get(), url, &transfer);
  curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, Progress);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &on_progress);
  const CURLcode code = curl_easy_perform(curl.get());
  long http_status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &http_status);
  // A server that refuses answers before it has all, and closes.
  if (code != CURLE_OK && http_status < 400) {
    const std::string reason = transfer.reason;
    return Status(StatusCode::kUnavailable, reason.empty() ? curl_easy_strerror(code) : reason);
  }
  if (http_status != 200) return Status(StatusCode::kIo, ErrorOf(http_status, transfer.answer));
  json told = json::parse(transfer.answer, nullptr, /*allow_exceptions=*/false);
  if (!told.is_object()) return Status(StatusCode::kCorrupt, "the server is no collector");
  return told;
}

std::string QueryText(const std::string& text) {
  char* const escaped = curl_easy_escape(nullptr, text.c_str(), static_cast<int>(text.size()));
  std::string query = escaped == nullptr ? "" : escaped;
  curl_free(escaped);
  return query;
}

}  // namespace jankbox::tools
