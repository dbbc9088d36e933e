// Which reports want which symbols: rows of the collector's store. THREAD-SAFE, but for MarkSome();
// blocks on the disk.
#ifndef JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_DEMAND_H_
#define JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_DEMAND_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "collector/store.h"

namespace jankbox::collector {

// A build id of reports that has no debug file.
struct MissingSymbols {
  std::string build_id;
  std::string module;
  uint64_t reports = 0;
};

struct PendingNaming {
  uint64_t reports = 0;
  uint64_t traces = 0;
};

class SymbolDemand {
 public:
  static constexpr int kMaxListed = 1000;

  // `store` outlives this.
  explicit SymbolDemand(ReportStore* store) : store_(store) {}

  // Reports of which it is not known yet, at most `limit`.
  Result<std::vector<std::string>> ToIndex(int limit);
  // What a report wants: keys as in SymbolFile, with the modules that these are of. Adds to what is
  // known. Does nothing if another revision of the report arrived.
  Status Add(const std::string& id, const std::string& content_hash,
             const std::map<std::string, std::string>& keys);
  // Marks reports that want symbols which arrived, a few of them. False if there are none.
  Result<bool> MarkSome();

  // Those that most reports want, at most kMaxListed.
  Result<std::vector<MissingSymbols>> Missing();
  // The build id of them that no server was asked for since `asked_before_ms`, and notes that it is
  // asked for; empty if there is none.
  Result<std::string> NextToAskFor(int64_t asked_before_ms, int64_t now_ms);
  Result<PendingNaming> Pending();

 private:
  Status MarkIn(Database* database, bool* found);

  ReportStore* store_;
  std::pair<std::string, int64_t> marking_;  // key and version
  std::string marked_up_to_;                 // id
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_DEMAND_H_
