// The collector's JSON about symbols. Pure; allocates; any thread.
#ifndef JANKBOX_COLLECTOR_SYMBOL_JSON_H_
#define JANKBOX_COLLECTOR_SYMBOL_JSON_H_

#include <string>
#include <vector>

#include "collector/symbols/symbol_demand.h"
#include "collector/symbols/symbol_receiver.h"
#include "collector/symbols/symbol_store.h"

namespace jankbox::collector {

// {"symbols": […]}: {build_id (of a debug file), app and app_version (of a mapping), contents
// ("debug info", "symbols", "mapping"), bytes, uploaded, received_at, reports (that want it),
// problem (of reading it, or "")}.
std::string SymbolFilesJson(const std::vector<SymbolFile>& files);

// The same with "missing": [{build_id, module, reports}] and "pending": {reports, traces}, which
// wait for their names.
std::string SymbolsJson(const std::vector<SymbolFile>& files,
                        const std::vector<MissingSymbols>& missing, const PendingNaming& pending);

// One entry of "symbols" with "result": "stored", "duplicate" or "kept".
std::string ReceivedSymbolsJson(const ReceivedSymbols& received);

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_SYMBOL_JSON_H_
