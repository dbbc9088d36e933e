#include "collector/http_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/logger.h"
#include "base/own_thread.h"
#include "base/uuid.h"
#include "collector/http_reply.h"
#include "collector/json_views.h"
#include "collector/page_file.h"
#include "collector/symbols/named_file.h"
#include "report/counts_message.h"
#include "report/report_json.h"

namespace jankbox::collector {
namespace {

constexpr char kReportsPath[] = "/api/v1/reports";
constexpr char kCountsPath[] = "/api/v1/counts";
constexpr char kSymbolsPath[] = "/api/v1/symbols";
constexpr size_t kPoolThreads = 32;  // each may have one body of max_report_bytes in memory
constexpr int kBacklog = 128;        // the library's 5 makes bursts wait a second for a new SYN
constexpr time_t kKeepAliveSeconds = 2;
constexpr size_t kKeepAliveRequests = 1000;
constexpr time_t kIoTimeoutSeconds = 10;
constexpr size_t kMaxListed = 10000;

std::string LowerCaseMediaType(const std::string& header) {
  std::string type = header.substr(0, header.find(';'));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  for (char& c : type) c = static_cast<char>(tolower(static_cast<unsigned char>(c)));
  return type;
}

// None if the name is unknown.
std::optional<proto::Kind> KindOf(const std::string& name) {
  for (int kind = proto::Kind_MIN; kind <= proto::Kind_MAX; ++kind) {
    if (proto::Kind_IsValid(kind) && KindName(static_cast<proto::Kind>(kind)) == name) {
      return static_cast<proto::Kind>(kind);
    }
  }
  return std::nullopt;
}

Result<ReportFilter> FilterOf(const httplib::Request& request) {
  ReportFilter filter;
  if (request.has_param("limit")) {
    const std::string text = request.get_param_value("limit");
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), filter.limit);
    if (error != std::errc() || end != text.data() + text.size() || filter.limit > kMaxListed) {
      return Status(StatusCode::kInvalidArgument,
                    "limit is not a number from 0 to " + std::to_string(kMaxListed));
    }
  }
  if (request.has_param("fingerprint")) filter.fingerprint = request.get_param_value("fingerprint");
  if (request.has_param("group")) filter.group = request.get_param_value("group");
  if (request.has_param("kind")) {
    filter.kind = KindOf(request.get_param_value("kind"));
    if (!filter.kind.has_value()) return Status(StatusCode::kInvalidArgument, "no such kind");
  }
  return filter;
}

const char* TypeOfPageFile(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  return "image/svg+xml";
}

void SendUnavailable(const Status& status, httplib::Response* response) {
  Log().error("query failed: {}", status.message());
  SendError(response, 503, "the collector cannot read its store at the moment");
}

// Null: nothing can be sent there.
const char* UploadType(const std::string& path) {
  if (path == kReportsPath) return kReportFileType;
  if (path == kCountsPath) return kCountsType;
  return path == kSymbolsPath ? kSymbolsType : nullptr;
}

// An upload must be of its path's type and of no encoding. A page of a foreign site cannot send the
// type without asking first (CORS), and the answer is never yes.
std::optional<std::pair<int, std::string>> RefusedUpload(const httplib::Request& request) {
  const char* const type = UploadType(request.path);
  if (type == nullptr) return {{404, "not found"}};
  if (LowerCaseMediaType(request.get_header_value("Content-Type")) != type) {
    return {{415, std::string("Content-Type is not ") + type}};
  }
  if (request.has_header("Content-Encoding")) return {{415, "Content-Encoding is not supported"}};
  return std::nullopt;
}

bool HasBody(const httplib::Request& request) {
  return request.has_header("Transfer-Encoding") ||
         (request.has_header("Content-Length") &&
          request.get_header_value("Content-Length") != "0");
}

}  // namespace

HttpServer::HttpServer(const ServedParts& parts, HostPolicy hosts, size_t max_report_bytes)
    : store_(parts.store),
      counts_(parts.store),
      namings_(parts.store),
      blobs_(parts.blobs),
      ingest_(parts.ingest),
      symbols_(parts.symbols),
      hosts_(std::move(hosts)),
      max_report_bytes_(max_report_bytes) {
  Configure();
}

HttpServer::~HttpServer() { Stop(); }

void HttpServer::Configure() {
  // Debian's build has Nagle's algorithm on, which with delayed ACKs costs 40 ms a request.
  listener_.set_tcp_nodelay(true);
  // The library's default is SO_REUSEPORT: a second collector would bind the same port in silence.
  listener_.set_socket_options([](socket_t socket) {
    const int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  });
  listener_.set_keep_alive_max_count(kKeepAliveRequests);
  listener_.set_keep_alive_timeout(kKeepAliveSeconds);
  listener_.set_read_timeout(kIoTimeoutSeconds);
  listener_.set_write_timeout(kIoTimeoutSeconds);
  listener_.new_task_queue = [] { return new httplib::ThreadPool(kPoolThreads); };
  listener_.set_default_headers(
      {{"Content-Security-Policy",
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "object-src 'none'"},
       {"X-Content-Type-Options", "nosniff"},
       {"X-Frame-Options", "DENY"},
       {"Cross-Origin-Resource-Policy", "same-origin"},
       {"Referrer-Policy", "no-referrer"},
       {"Cache-Control", "no-store"}});
  listener_.set_pre_routing_handler(
      [this](const httplib::Request& request, httplib::Response& response) {
        // The library's own object, which it made non-const.
        return Route(const_cast<httplib::Request&>(request), response);
      });
  listener_.set_exception_handler(
      [](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
        SendError(&response, 503, "the collector is out of memory", Connection::kClose);
      });
  AddUploads();
}

void HttpServer::AddUploads() {
  listener_.Post(kReportsPath, [this](const httplib::Request&, httplib::Response& response,
                                      const httplib::ContentReader& reader) {
    ReceiveUpload(max_report_bytes_, &HttpServer::AnswerUpload, response, reader);
  });
  listener_.Post(kCountsPath, [this](const httplib::Request&, httplib::Response& response,
                                     const httplib::ContentReader& reader) {
    ReceiveUpload(kMaxCountsBytes, &HttpServer::AnswerCounts, response, reader);
  });
  listener_.Post(kSymbolsPath, [this](const httplib::Request& request, httplib::Response& response,
                                      const httplib::ContentReader& reader) {
    symbols_->Receive(request, &response, reader);
  });
}

Result<int> HttpServer::Start(const ListenAddress& address) {
  errno = 0;
  int port = address.port;
  if (port == 0) {
    port = listener_.bind_to_any_port(address.host);
  } else if (!listener_.bind_to_port(address.host, port)) {
    port = -1;
  }
  if (port < 0 || ::listen(listener_.socket(), kBacklog) != 0) {
    return Status::FromErrno(errno, ListenUrl(address.host, address.port));
  }
  thread_ = std::thread([this] {
    NameCurrentThread("jb-accept");
    listener_.listen_after_bind();
  });
  // Stop() before the loop runs would be lost.
  while (!listener_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return port;
}

void HttpServer::Stop() {
  if (!thread_.joinable()) return;
  listener_.stop();
  thread_.join();
}

HttpServer::HandlerResponse HttpServer::Route(httplib::Request& request,
                                              httplib::Response& response) {
  request.ranges.clear();  // Range is not offered; the library would cut error bodies too
  if (!hosts_.Allows(request.get_header_value("Host"))) {
    SendError(&response, 403, "this collector does not serve this Host", Connection::kClose);
  } else if (request.method == "POST") {
    const auto refused = RefusedUpload(request);
    if (!refused.has_value()) return HandlerResponse::Unhandled;
    SendError(&response, refused->first, refused->second, Connection::kClose);
  } else if (request.method != "GET" && request.method != "HEAD") {
    response.set_header("Allow", "GET, HEAD, POST");
    SendError(&response, 405, "method not allowed", Connection::kClose);
  } else if (HasBody(request)) {
    SendError(&response, 400, "a query must have no body", Connection::kClose);
  } else {
    RouteGet(request, response);
  }
  return HandlerResponse::Handled;
}

void HttpServer::RouteGet(const httplib::Request& request, httplib::Response& response) {
  const std::string& path = request.path;
  const std::string report_prefix = std::string(kReportsPath) + "/";
  if (path == kReportsPath) return SendList(request, response);
  if (path == "/api/v1/groups") return SendGroups(response);
  if (path == kCountsPath) return SendCounts(response);
  if (path == "/api/v1/usage") return SendUsage(response);
  if (path == kSymbolsPath) return symbols_->SendList(request, &response);
  if (path == "/api/v1/sections") return Send(&response, 200, SectionsJson(), kJsonType);
  if (path == "/healthz") return Send(&response, 200, "ok", "text/plain; charset=utf-8");
  if (path.starts_with(report_prefix)) {
    return RouteReport(path.substr(report_prefix.size()), response);
  }
  const std::string name =
      path == "/" ? "index.html" : path.substr(std::min<size_t>(1, path.size()));
  const std::string_view file = PageFile(name);
  if (file.empty()) return SendError(&response, 404, "not found");
  Send(&response, 200, std::string(file), TypeOfPageFile(name));
}

// `rest` is "ID" or "ID/trace".
void HttpServer::RouteReport(const std::string& rest, httplib::Response& response) {
  const size_t slash = rest.find('/');
  const std::string id = rest.substr(0, slash);
  const bool trace = slash != std::string::npos;
  if (!IsUuid(id) || (trace && rest.substr(slash) != "/trace")) {
    return SendError(&response, 404, "not found");
  }
  Result<std::optional<StoredReport>> stored = store_->Find(id);
  if (!stored.ok()) return SendUnavailable(stored.status(), &response);
  if (!stored->has_value()) return SendError(&response, 404, "no such report");
  if (trace) return SendTrace(stored->value(), response);
  Send(&response, 200, ReportJson(stored->value()), kJsonType);
}

void HttpServer::SendTrace(const StoredReport& stored, httplib::Response& response) {
  const std::string& id = stored.report.id();
  Result<std::string> bytes = blobs_->Read({id, stored.report.revision()});
  if (!bytes.ok() && bytes.status().code() == StatusCode::kNotFound) {
    // A later revision may have taken its place meanwhile.
    Result<std::optional<StoredReport>> now = store_->Find(id);
    const bool is_later =
        now.ok() && now->has_value() && now->value().report.revision() != stored.report.revision();
    if (is_later) return SendTrace(now->value(), response);
  }
  if (!bytes.ok()) {
    Log().error("cannot read a trace: {}", bytes.status().message());
    return SendError(&response, 404, "the trace of this report no longer exists");
  }
  response.set_header("Content-Disposition", "attachment; filename=\"" + id + ".pftrace.zst\"");
  Send(&response, 200, WithNames(stored, std::move(bytes.value())), kReportFileType);
}

// The file as it was received if there are no names.
std::string HttpServer::WithNames(const StoredReport& stored, std::string file) {
  const Result<std::string> names = namings_.TraceNames(stored.report.id(), stored.content_hash);
  const bool have_names = names.ok() && !names->empty();
  if (stored.naming == 0 && !have_names) return file;
  Result<std::string> named = NamedFile(file, stored.report, have_names ? names.value() : "");
  if (named.ok()) return std::move(named.value());
  Log().warn("report {} is sent without names: {}", stored.report.id(), named.status().message());
  return file;
}

void HttpServer::SendList(const httplib::Request& request, httplib::Response& response) {
  Result<ReportFilter> filter = FilterOf(request);
  if (!filter.ok()) return SendError(&response, 400, filter.status().message());
  Result<ReportList> list = store_->List(filter.value());
  if (!list.ok()) return SendUnavailable(list.status(), &response);
  Send(&response, 200, ReportListJson(list.value()), kJsonType);
}

void HttpServer::SendGroups(httplib::Response& response) {
  Result<std::vector<IncidentGroup>> groups = store_->Groups();
  if (!groups.ok()) return SendUnavailable(groups.status(), &response);
  Send(&response, 200, GroupsJson(groups.value()), kJsonType);
}

void HttpServer::SendCounts(httplib::Response& response) {
  Result<CountSums> sums = counts_.Sums();
  if (!sums.ok()) return SendUnavailable(sums.status(), &response);
  Send(&response, 200, CountsJson(sums.value()), kJsonType);
}

void HttpServer::SendUsage(httplib::Response& response) {
  Result<UsageRates> rates = counts_.Usage();
  if (!rates.ok()) return SendUnavailable(rates.status(), &response);
  Send(&response, 200, UsageJson(rates.value()), kJsonType);
}

void HttpServer::ReceiveUpload(size_t max_bytes, Answer answer, httplib::Response& response,
                               const httplib::ContentReader& reader) {
  std::string body;
  size_t received = 0;
  // Counted here because the library limits bodies with a Content-Length only. What is too large is
  // read on for a while, so that the sender is done sending and sees the answer.
  const bool complete = reader([&](const char* bytes, size_t size) {
    received += size;
    if (received <= max_bytes) {
      body.append(bytes, size);
    } else {
      body = std::string();
    }
    return received / 4 <= max_bytes;
  });
  const Connection connection = complete ? Connection::kKeep : Connection::kClose;
  if (received > max_bytes) {
    return SendError(&response, 413, "larger than " + std::to_string(max_bytes) + " bytes",
                     connection);
  }
  if (!complete) return SendError(&response, 400, "the body is truncated", connection);
  (this->*answer)(body, response);
}

void HttpServer::AnswerUpload(std::string_view body, httplib::Response& response) {
  const IngestAnswer answer = ingest_->Accept(body, static_cast<int64_t>(RealtimeNs() / kNsPerMs));
  switch (answer.outcome) {
    case IngestOutcome::kAccepted:
      return Send(&response, 200, answer.reply.SerializeAsString(), kReplyType);
    case IngestOutcome::kConflict:
      return SendError(&response, 409, answer.error);
    case IngestOutcome::kInvalid:
      return SendError(&response, 400, answer.error);
    case IngestOutcome::kUnavailable:
      return SendError(&response, 503, answer.error);
  }
}

void HttpServer::AnswerCounts(std::string_view body, httplib::Response& response) {
  const Result<proto::Counts> counts = ParseCounts(body);
  if (!counts.ok()) return SendError(&response, 400, counts.status().message());
  const Result<proto::CountsReply> reply =
      counts_.Accept(counts.value(), static_cast<int64_t>(RealtimeNs() / kNsPerMs));
  if (reply.ok()) {
    return Send(&response, 200, reply.value().SerializeAsString(), kReplyType);
  }
  if (reply.status().code() == StatusCode::kInvalidArgument) {
    return SendError(&response, 400, reply.status().message());
  }
  Log().error("cannot store counts: {}", reply.status().message());
  SendError(&response, 503, "the collector cannot write at the moment");
}

}  // namespace jankbox::collector
