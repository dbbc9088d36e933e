// The whole collector over one data folder: lock, store, blobs, symbols, ingest, server. One
// process a folder. Called by main.cc on the main thread.
#ifndef JANKBOX_COLLECTOR_COLLECTOR_H_
#define JANKBOX_COLLECTOR_COLLECTOR_H_

#include <cstddef>
#include <cstdint>
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
#include "collector/symbol_requests.h"
#include "collector/symbols/namer.h"
#include "collector/symbols/server_asker.h"
#include "collector/symbols/symbol_folder.h"
#include "collector/symbols/symbol_receiver.h"
#include "collector/symbols/symbol_store.h"

namespace jankbox::collector {

struct CollectorOptions {
  ListenAddress listen;
  std::string directory;
  size_t max_report_bytes = 16u << 20;
  bool allow_remote = false;
  std::vector<std::string> host_names;  // Host headers answered besides the usual ones
  std::vector<std::string> symbol_folders;
  uint64_t max_symbol_bytes = uint64_t{2} << 30;  // of one file
};

class Collector {
 public:
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // Opens the folder, repairs what a crash left, and serves. Messages of errors name the thing and
  // the fix.
  static Result<std::unique_ptr<Collector>> Start(const CollectorOptions& options);

  // "http://HOST:PORT".
  const std::string& url() const { return url_; }

 private:
  Collector(ScopedFd lock, std::unique_ptr<ReportStore> store, const CollectorOptions& options);
  Status Repair();
  Status StartNaming(const CollectorOptions& options);
  Status Serve(const CollectorOptions& options);

  ScopedFd lock_;  // keeps the folder locked while any member below may write
  std::unique_ptr<ReportStore> store_;
  BlobFolder blobs_;
  SymbolFolder symbol_folder_;
  SymbolStore symbols_;
  Namer namer_;
  SymbolReceiver receiver_;
  ServerAsker asker_;
  SymbolRequests symbol_requests_;
  Ingest ingest_;
  HttpServer server_;
  std::string url_;
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_COLLECTOR_H_
