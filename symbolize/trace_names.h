// Names for the stacks of a trace, as Perfetto has them: packets at its end (ModuleSymbols) that
// give functions, files, lines and inlined calls to the frames before. A worker reads the trace,
// which may be hostile. Allocates.
#ifndef JANKBOX_SYMBOLIZE_TRACE_NAMES_H_
#define JANKBOX_SYMBOLIZE_TRACE_NAMES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "report/report_file.h"
#include "symbolize/report_names.h"
#include "symbolize/symbol_lookup.h"

namespace jankbox {

struct TraceStacks {
  // Addresses of frames that are in a sampled stack, by mapping: its path as importers join it, and
  // its build id as bytes.
  std::map<std::pair<std::string, std::string>, std::set<uint64_t>> addresses;
  uint32_t free_sequence = 1;  // that no packet uses
};

// Removes the names that an earlier call of AppendTraceNames() appended.
void RemoveTraceNames(ReportFileParts* parts);

// kCorrupt if the trace cannot be read, kUnavailable if it ends its reader. REQUIRES one thread;
// blocks.
Result<TraceStacks> ReadTraceStacks(const ReportFileParts& parts);

void CollectFrames(const TraceStacks& stacks, ModulesByBuildId* modules);

// The names as zstd frames, for the end of the trace; none if nothing is known.
Result<std::vector<std::string>> MakeTraceNames(const TraceStacks& stacks, const Symbols& symbols);

}  // namespace jankbox

#endif  // JANKBOX_SYMBOLIZE_TRACE_NAMES_H_
