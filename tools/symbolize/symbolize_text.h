// What `jankbox symbolize` found, as text and as JSON. Pure; allocates.
#ifndef JANKBOX_TOOLS_SYMBOLIZE_SYMBOLIZE_TEXT_H_
#define JANKBOX_TOOLS_SYMBOLIZE_SYMBOLIZE_TEXT_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/report.pb.h"
#include "symbolize/report_names.h"
#include "symbolize/symbol_lookup.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {

struct SymbolizedReport {
  std::string id;
  std::string file;  // that was written
  FrameCounts counts;
};

struct SymbolizeSummary {
  std::vector<SymbolizedReport> reports;
  ModulesByBuildId modules;  // that were looked up
  Symbols symbols;
  size_t java_names = 0;              // that were replaced
  std::vector<std::string> problems;  // printed already
};

std::string RenderSymbolize(const TextStyle& style, const SymbolizeSummary& summary);
nlohmann::json SymbolizeToJson(const SymbolizeSummary& summary);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_SYMBOLIZE_SYMBOLIZE_TEXT_H_
