#include "tools/open/trace_server.h"

#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/uuid.h"
#include "tools/open/page_file.h"

namespace jankbox::tools {
namespace {

constexpr char kHtml[] = "text/html; charset=utf-8";
constexpr char kScript[] = "text/javascript; charset=utf-8";
constexpr char kStyle[] = "text/css; charset=utf-8";
constexpr char kJson[] = "application/json; charset=utf-8";
constexpr char kBytes[] = "application/octet-stream";

constexpr char kPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
// The viewer compiles WebAssembly and makes functions from text. It reaches no other server.
constexpr char kViewerPolicy[] =
    "default-src 'none'; script-src 'self' 'unsafe-eval'; worker-src 'self'; connect-src 'self'; "
    "style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'none'";

// "https://ui.perfetto.dev" of "https://ui.perfetto.dev/v58/".
std::string OriginOf(const std::string& url) {
  const size_t scheme = url.find("://");
  const size_t path = scheme == std::string::npos ? scheme : url.find('/', scheme + 3);
  return url.substr(0, path);
}

std::string Page(std::string_view name) { return std::string(PageFile(name)); }

}  // namespace

TraceServer::TraceServer(OpenedTrace trace, std::string ui, std::string viewer)
    : trace_(std::move(trace)),
      ui_(std::move(ui)),
      viewer_(std::move(viewer)),
      root_("/" + NewUuid(RealtimeNs() / kNsPerMs) + "/") {}

TraceServer::~TraceServer() {
  server_.stop();
  if (thread_.joinable()) thread_.join();
}

// Through a content provider: the library would compress a plain body at its slowest setting.
void TraceServer::Answer(httplib::Response* response, std::string body, const char* type) const {
  response->set_header("Cache-Control", "no-store");
  response->set_header("X-Content-Type-Options", "nosniff");
  response->set_header("Referrer-Policy", "no-referrer");
  response->set_header("Content-Security-Policy", viewer_.empty() ? kPolicy : kViewerPolicy);
  const auto shared = std::make_shared<std::string>(std::move(body));
  response->set_content_provider(shared->size(), type,
                                 [shared](size_t offset, size_t size, httplib::DataSink& sink) {
                                   return sink.write(shared->data() + offset, size);
                                 });
}

void TraceServer::AddPages() {
  using httplib::Request;
  using httplib::Response;
  const auto add = [this](const std::string& name, std::string body, const char* type) {
    server_.Get(root_ + name, [this, body = std::move(body), type](const Request&, Response& to) {
      Answer(&to, body, type);
    });
  };
  add("style.css", Page("style.css"), kStyle);
  // As texts: a script's numbers end at 2^53, which is 104 days.
  const nlohmann::json facts = {{"title", trace_.title},
                                {"ui", ui_},
                                {"origin", OriginOf(ui_)},
                                {"from_ns", std::to_string(trace_.from_ns)},
                                {"to_ns", std::to_string(trace_.to_ns)}};
  add("facts.json", facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), kJson);
  server_.Get(root_ + "trace", [this](const Request&, Response& to) {
    Answer(&to, "", kBytes);
    to.set_content_provider(trace_.bytes.size(), kBytes,
                            [this](size_t offset, size_t size, httplib::DataSink& sink) {
                              return sink.write(trace_.bytes.data() + offset, size);
                            });
  });
  server_.Post(root_ + "done", [this](const Request&, Response& to) {
    Answer(&to, "", kJson);
    handed_over_ = true;
  });
  if (viewer_.empty()) {
    add("", Page("open.html"), kHtml);
    add("open.js", Page("open.js"), kScript);
    return;
  }
  std::string page = Page("viewer.html");
  constexpr std::string_view kPlace = "TRACE_URL";
  page.replace(page.find(kPlace), kPlace.size(), "http://" + host_ + root_ + "trace");
  add("", page, kHtml);
  add("viewer.js", Page("viewer.js"), kScript);
  server_.set_mount_point(root_ + "viewer", viewer_, {{"Content-Security-Policy", kViewerPolicy}});
}

Result<std::string> TraceServer::Start() {
  // A page of another name that leads to this address (DNS rebinding) has another Host.
  server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& to) {
    if (request.get_header_value("Host") == host_)
      return httplib::Server::HandlerResponse::Unhandled;
    to.status = 421;
    return httplib::Server::HandlerResponse::Handled;
  });
  const int port = server_.bind_to_any_port("127.0.0.1");
  if (port <= 0) return Status(StatusCode::kUnavailable, "no port of 127.0.0.1 can be opened");
  host_ = "127.0.0.1:" + std::to_string(port);
  AddPages();
  thread_ = std::thread([this] { server_.listen_after_bind(); });
  while (!server_.is_running()) usleep(1000);  // else stop() would not end it
  return "http://" + host_ + root_;
}

}  // namespace jankbox::tools
