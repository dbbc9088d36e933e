#include "collector/http_reply.h"

#include <memory>
#include <utility>

#include "collector/json_views.h"

namespace jankbox::collector {

void Send(httplib::Response* response, int status, std::string body, const char* type,
          Connection connection) {
  response->status = status;
  if (connection == Connection::kClose) response->set_header("Connection", "close");
  if (body.empty()) {
    response->set_content("", 0, type);
    return;
  }
  const size_t size = body.size();
  const auto shared = std::make_shared<const std::string>(std::move(body));
  response->set_content_provider(
      size, type, [shared, connection](size_t offset, size_t length, httplib::DataSink& sink) {
        if (offset >= shared->size()) return false;
        const std::string_view piece = std::string_view(*shared).substr(offset, length);
        const bool written = sink.write(piece.data(), piece.size());
        // A provider that gives up makes the library close; by then the whole body is out.
        return written && connection == Connection::kKeep;
      });
}

void SendError(httplib::Response* response, int status, const std::string& error,
               Connection connection) {
  if (status == 503) response->set_header("Retry-After", "30");
  Send(response, status, ErrorJson(error), kJsonType, connection);
}

}  // namespace jankbox::collector
