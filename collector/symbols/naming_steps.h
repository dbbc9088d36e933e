// The steps by which reports get names. Each does a bounded part of what is to be done, in the
// order: keys of new reports, messages, traces. All but the reading of files happens here, since
// what it returns is bounded. One thread at a time; blocks on the disk and on processes.
#ifndef JANKBOX_COLLECTOR_SYMBOLS_NAMING_STEPS_H_
#define JANKBOX_COLLECTOR_SYMBOLS_NAMING_STEPS_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "collector/blob_folder.h"
#include "collector/store.h"
#include "collector/symbols/known_names.h"
#include "collector/symbols/naming_store.h"
#include "collector/symbols/symbol_demand.h"
#include "collector/symbols/symbol_store.h"
#include "symbolize/trace_names.h"

namespace jankbox::collector {

class NamingSteps {
 public:
  // All outlive this.
  NamingSteps(ReportStore* store, SymbolStore* symbols, const BlobFolder* blobs,
              const std::atomic<bool>* stop)
      : symbols_(symbols), blobs_(blobs), stop_(*stop), demand_(store), namings_(store) {}

  Status Recover() { return namings_.Recover(); }

  // Each returns false if there was nothing to do.
  Result<bool> IndexReports();
  Result<bool> MarkReports() { return demand_.MarkSome(); }
  // All reports that want symbols which are there get new names and groups in one transaction.
  Result<bool> NameMessages();
  Result<bool> NameTraces();

 private:
  struct Trace {
    std::string id;
    std::string content_hash;
    std::string path;
    TraceStacks stacks;
  };

  // `names` none: the names that are shown stay.
  Status AddNamed(const std::vector<std::string>& ids, const std::optional<KnownNames>& names,
                  int64_t naming, int64_t version);
  Result<std::vector<Trace>> TracesToName();
  Status ReadTraces(std::vector<Trace>* traces);
  // Notes what the traces want and adds it to `wanted`. Drops the last ones if that is too much;
  // they are named later.
  Status CollectWanted(std::vector<Trace>* traces, WantedNames* wanted);
  Status SetTraceNames(const Trace& trace, const std::optional<KnownNames>& names, int64_t version);
  // None after repeated failures, so that the next reports are not kept from their names.
  Result<std::optional<KnownNames>> LookUp(const WantedNames& wanted);

  SymbolStore* symbols_;
  const BlobFolder* blobs_;
  const std::atomic<bool>& stop_;
  SymbolDemand demand_;
  NamingStore namings_;
  int failures_ = 0;  // of processes, one after another
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_SYMBOLS_NAMING_STEPS_H_
