// Looks up what reports and traces want in the symbols that the collector has. Blocks on a process
// that reads the files (collector/symbols/symbol_process.h). THREAD-SAFE.
#ifndef JANKBOX_COLLECTOR_SYMBOLS_KNOWN_NAMES_H_
#define JANKBOX_COLLECTOR_SYMBOLS_KNOWN_NAMES_H_

#include <atomic>
#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "base/status.h"
#include "collector/symbols/symbol_store.h"
#include "report/report.pb.h"
#include "symbolize/java_names.h"
#include "symbolize/report_names.h"
#include "symbolize/symbol_lookup.h"

namespace jankbox::collector {

// What is to be looked up for many reports together.
struct WantedNames {
  ModulesByBuildId modules;
  std::map<std::string, std::set<std::string>> java;  // calls, by the key of their mapping

  void Add(const WantedNames& other);
  // In addresses: what its names may take is this times kMaxNameBytes.
  size_t size() const { return size_; }

 private:
  size_t size_ = 0;
};

// Adds what `report` wants. A mapping is that of its app and version.
void AddWanted(const proto::Report& report, WantedNames* wanted);

struct KnownNames {
  Symbols symbols;
  std::map<std::string, JavaNames> java;  // by the key of the mapping

  const JavaNames& JavaOf(const proto::Report& report) const;
};

// Also notes in the store which files could not be read.
Result<KnownNames> LookUpNames(const WantedNames& wanted, SymbolStore* symbols,
                               const std::atomic<bool>& stop);

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_SYMBOLS_KNOWN_NAMES_H_
