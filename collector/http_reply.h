// Bodies of HTTP answers. They go out through content providers and never through the library's
// compression, whose brotli runs at its slowest setting. Threads: the server's pool; allocates.
#ifndef JANKBOX_COLLECTOR_HTTP_REPLY_H_
#define JANKBOX_COLLECTOR_HTTP_REPLY_H_

#include <httplib.h>

#include <string>
#include <string_view>

namespace jankbox::collector {

inline constexpr char kJsonType[] = "application/json; charset=utf-8";
inline constexpr char kReportFileType[] = "application/x-perfetto-trace";
inline constexpr char kCountsType[] = "application/x-jankbox-counts";
inline constexpr char kSymbolsType[] = "application/x-jankbox-symbols";
inline constexpr char kReplyType[] = "application/x-protobuf";

// Afterwards the connection is used again, or closed, so that what is unread of a refused request
// is never taken for the next one.
enum class Connection { kKeep, kClose };

void Send(httplib::Response* response, int status, std::string body, const char* type,
          Connection connection = Connection::kKeep);

// {"error": …}; 503 says Retry-After: 30.
void SendError(httplib::Response* response, int status, const std::string& error,
               Connection connection = Connection::kKeep);

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_HTTP_REPLY_H_
