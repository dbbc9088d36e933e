// The whole collector over one data folder: lock, store, blobs, ingest, server. One process a
// folder. Called by main.cc on the main thread.
#ifndef JANKBOX_COLLECTOR_COLLECTOR_H_
#define JANKBOX_COLLECTOR_COLLECTOR_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/scoped_fd.h"
#include "base/status.h"
#include "collector/blob_folder.h"
#include "collector/http_server.h"
#include "collector/ingest.h"
#include "collector/listen_address.h"
#include "collector/store.h"

namespace jankbox::collector {

struct CollectorOptions {
  ListenAddress listen;
  std::string directory;
  size_t max_report_bytes = 16u << 20;
  bool allow_remote = false;
  std::vector<std::string> host_names;  // Host headers answered besides the usual ones
};

class Collector {
 public:
  // Opens the folder, repairs what a crash left, and serves. Messages of errors name the thing and
  // the fix.
  static Result<std::unique_ptr<Collector>> Start(const CollectorOptions& options);

  // "http://HOST:PORT".
  const std::string& url() const { return url_; }

 private:
  Collector(ScopedFd lock, std::unique_ptr<ReportStore> store, const CollectorOptions& options);
  Status Repair();
  Status Serve(const CollectorOptions& options);

  ScopedFd lock_;  // keeps the folder locked while any member below may write
  std::unique_ptr<ReportStore> store_;
  BlobFolder blobs_;
  Ingest ingest_;
  HttpServer server_;
  std::string url_;
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_COLLECTOR_H_
