#include "collector/symbol_requests.h"

#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "base/logger.h"
#include "collector/http_reply.h"
#include "collector/symbol_json.h"

namespace jankbox::collector {
namespace {

constexpr int kMaxUploads = 4;  // at once: they may be long, and reports need the threads
constexpr size_t kMaxTextBytes = 256;

// Of the answer to a file that could not be taken. What is unread of it is not the next request.
void SendProblem(const Status& status, httplib::Response* response) {
  if (status.code() == StatusCode::kInvalidArgument) {
    return SendError(response, 400, status.message(), Connection::kClose);
  }
  Log().error("cannot take symbols: {}", status.message());
  SendError(response, 503,
            status.code() == StatusCode::kNoSpace
                ? "the collector's disk is full"
                : "the collector cannot take symbols at the moment",
            Connection::kClose);
}

// None: the file is a debug file.
Result<std::optional<MappedApp>> AppOf(const httplib::Request& request) {
  if (!request.has_param("app") && !request.has_param("version")) {
    return std::optional<MappedApp>();
  }
  MappedApp app{request.get_param_value("app"), request.get_param_value("version")};
  const bool complete = request.has_param("version") && !app.app.empty();
  if (complete && app.app.size() <= kMaxTextBytes && app.version.size() <= kMaxTextBytes) {
    return std::optional<MappedApp>(std::move(app));
  }
  return Status(StatusCode::kInvalidArgument,
                "a mapping needs the parameters app and version, each of up to 256 bytes");
}

// 0: the sender does not say.
uint64_t ContentLength(const httplib::Request& request) {
  const std::string text = request.get_header_value("Content-Length");
  uint64_t length = 0;
  std::from_chars(text.data(), text.data() + text.size(), length);
  return length;
}

void SendTooLarge(uint64_t max_bytes, httplib::Response* response) {
  SendError(response, 413, "larger than " + std::to_string(max_bytes) + " bytes",
            Connection::kClose);
}

// One of the uploads that may run at once.
class Slot {
 public:
  explicit Slot(std::atomic<int>* taken) : taken_(taken), free_(++*taken <= kMaxUploads) {}
  ~Slot() { --*taken_; }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  bool is_free() const { return free_; }

 private:
  std::atomic<int>* taken_;
  const bool free_;
};

}  // namespace

void SymbolRequests::Receive(const httplib::Request& request, httplib::Response* response,
                             const httplib::ContentReader& reader) {
  const Slot slot(&uploads_);
  if (!slot.is_free()) {
    return SendError(response, 503, "too many uploads of symbols at once", Connection::kClose);
  }
  const Result<std::optional<MappedApp>> app = AppOf(request);
  if (!app.ok()) return SendProblem(app.status(), response);
  if (ContentLength(request) > max_bytes_) return SendTooLarge(max_bytes_, response);
  const std::unique_ptr<IncomingFile> file = ReadBody(reader, response);
  if (file != nullptr) Answer(file.get(), app.value(), response);
}

std::unique_ptr<IncomingFile> SymbolRequests::ReadBody(const httplib::ContentReader& reader,
                                                       httplib::Response* response) const {
  Result<std::unique_ptr<IncomingFile>> begun = receiver_->Begin();
  if (!begun.ok()) {
    SendProblem(begun.status(), response);
    return nullptr;
  }
  std::unique_ptr<IncomingFile> file = std::move(begun.value());
  Status status;
  bool too_large = false;
  const bool complete = reader([&](const char* bytes, size_t size) {
    too_large = size > max_bytes_ - file->bytes();
    if (!too_large) status = file->Write({bytes, size});
    return !too_large && status.ok();
  });
  if (complete) return file;
  if (too_large) {
    SendTooLarge(max_bytes_, response);
  } else if (!status.ok()) {
    SendProblem(status, response);
  } else {
    SendError(response, 400, "the body is truncated", Connection::kClose);
  }
  return nullptr;
}

void SymbolRequests::Answer(IncomingFile* file, const std::optional<MappedApp>& app,
                            httplib::Response* response) {
  const Result<ReceivedSymbols> received = receiver_->Accept(file, app);
  if (!received.ok()) return SendProblem(received.status(), response);
  Send(response, 200, ReceivedSymbolsJson(received.value()), kJsonType);
}

void SymbolRequests::SendList(const httplib::Request& request, httplib::Response* response) {
  const auto unavailable = [response](const Status& status) {
    Log().error("query failed: {}", status.message());
    SendError(response, 503, "the collector cannot read its store at the moment");
  };
  if (request.has_param("build_id")) {
    const Result<std::optional<SymbolFile>> file =
        symbols_->Find(request.get_param_value("build_id"));
    if (!file.ok()) return unavailable(file.status());
    std::vector<SymbolFile> files;
    if (file->has_value()) files.push_back(*file.value());
    return Send(response, 200, SymbolFilesJson(files), kJsonType);
  }
  const Result<std::vector<SymbolFile>> files = symbols_->List();
  if (!files.ok()) return unavailable(files.status());
  const Result<std::vector<MissingSymbols>> missing = demand_.Missing();
  if (!missing.ok()) return unavailable(missing.status());
  const Result<PendingNaming> pending = demand_.Pending();
  if (!pending.ok()) return unavailable(pending.status());
  Send(response, 200, SymbolsJson(files.value(), missing.value(), pending.value()), kJsonType);
}

}  // namespace jankbox::collector
