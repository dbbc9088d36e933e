// Symbols over HTTP: POST /api/v1/symbols takes a debug file, or with the parameters `app` and
// `version` a mapping.txt; GET lists what is there, what reports want besides, and how many reports
// wait for names. Handlers run on the server's pool; allocates, and blocks on disk and network.
#ifndef JANKBOX_COLLECTOR_SYMBOL_REQUESTS_H_
#define JANKBOX_COLLECTOR_SYMBOL_REQUESTS_H_

#include <httplib.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/status.h"
#include "collector/symbols/symbol_demand.h"
#include "collector/symbols/symbol_receiver.h"
#include "collector/symbols/symbol_store.h"

namespace jankbox::collector {

class SymbolRequests {
 public:
  // All outlive this.
  SymbolRequests(ReportStore* store, SymbolStore* symbols, SymbolReceiver* receiver,
                 uint64_t max_bytes)
      : symbols_(symbols), demand_(store), receiver_(receiver), max_bytes_(max_bytes) {}

  void Receive(const httplib::Request& request, httplib::Response* response,
               const httplib::ContentReader& reader);
  void SendList(const httplib::Request& request, httplib::Response* response);

 private:
  // The body, on the disk; the error is answered already if there is none.
  std::unique_ptr<IncomingFile> ReadBody(const httplib::ContentReader& reader,
                                         httplib::Response* response) const;
  void Answer(IncomingFile* file, const std::optional<MappedApp>& app, httplib::Response* response);

  SymbolStore* symbols_;
  SymbolDemand demand_;
  SymbolReceiver* receiver_;
  const uint64_t max_bytes_;
  std::atomic<int> uploads_{0};
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_SYMBOL_REQUESTS_H_
