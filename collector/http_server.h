// The collector over HTTP/1.1: POST /api/v1/reports, /api/v1/counts and /api/v1/symbols; GET
// /api/v1/reports, /api/v1/reports/ID, /api/v1/reports/ID/trace, /api/v1/groups, /api/v1/counts,
// /api/v1/symbols, /healthz and the page at /. Uses cpp-httplib for sockets, parsing and routes:
// what the library would read without a limit (bodies in chunks, bodies of other methods) is
// refused before it is read. Start() and Stop() from one thread; handlers run on the library's
// pool. Allocates, and blocks on disk and network.
#ifndef JANKBOX_COLLECTOR_HTTP_SERVER_H_
#define JANKBOX_COLLECTOR_HTTP_SERVER_H_

#include <httplib.h>

#include <cstddef>
#include <string>
#include <thread>

#include "base/status.h"
#include "collector/blob_folder.h"
#include "collector/count_store.h"
#include "collector/host_policy.h"
#include "collector/ingest.h"
#include "collector/listen_address.h"
#include "collector/store.h"
#include "collector/symbol_requests.h"
#include "collector/symbols/naming_store.h"

namespace jankbox::collector {

// What requests reach.
struct ServedParts {
  ReportStore* store;
  BlobFolder* blobs;
  Ingest* ingest;
  SymbolRequests* symbols;
};

class HttpServer {
 public:
  // The pointed-to objects outlive this.
  HttpServer(const ServedParts& parts, HostPolicy hosts, size_t max_report_bytes);
  ~HttpServer();

  // Binds and serves on a thread of its own; returns the port.
  Result<int> Start(const ListenAddress& address);

  // Finishes the requests that run (idle connections end within kKeepAliveSeconds).
  void Stop();

 private:
  // The library's listening socket is reached through inheritance only.
  class Listener : public httplib::Server {
   public:
    int socket() const { return svr_sock_; }
  };
  using HandlerResponse = httplib::Server::HandlerResponse;

  void Configure();
  void AddUploads();
  HandlerResponse Route(httplib::Request& request, httplib::Response& response);
  void RouteGet(const httplib::Request& request, httplib::Response& response);
  void RouteReport(const std::string& rest, httplib::Response& response);
  void SendList(const httplib::Request& request, httplib::Response& response);
  void SendGroups(httplib::Response& response);
  void SendTrace(const StoredReport& stored, httplib::Response& response);
  std::string WithNames(const StoredReport& stored, std::string file);
  void SendCounts(httplib::Response& response);
  void SendUsage(httplib::Response& response);
  using Answer = void (HttpServer::*)(std::string_view body, httplib::Response& response);
  // Reads a body of up to `max_bytes` and answers it.
  void ReceiveUpload(size_t max_bytes, Answer answer, httplib::Response& response,
                     const httplib::ContentReader& reader);
  void AnswerUpload(std::string_view body, httplib::Response& response);
  void AnswerCounts(std::string_view body, httplib::Response& response);

  ReportStore* store_;
  CountStore counts_;
  NamingStore namings_;
  BlobFolder* blobs_;
  Ingest* ingest_;
  SymbolRequests* symbols_;
  const HostPolicy hosts_;
  const size_t max_report_bytes_;
  Listener listener_;
  std::thread thread_;
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_HTTP_SERVER_H_
