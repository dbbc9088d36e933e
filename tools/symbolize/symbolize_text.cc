#include "tools/symbolize/symbolize_text.h"

#include <algorithm>

#include "tools/terminal/table.h"

namespace jankbox::tools {
namespace {

constexpr size_t kShownIdDigits = 12;

// "20 of 21".
std::string Share(size_t part, size_t all) {
  return std::to_string(part) + " of " + std::to_string(all);
}

std::string SymbolsText(const ModuleSymbols& symbols) {
  if (symbols.file.empty()) return "no debug file";
  return symbols.problem.empty() ? symbols.file : symbols.file + ": " + symbols.problem;
}

}  // namespace

std::string RenderSymbolize(const TextStyle& style, const SymbolizeSummary& summary) {
  std::string text;
  if (!summary.modules.empty()) {
    Table table({{"MODULE", 12}, {"BUILD ID", 8, 1}, {"NAMED", 0, 0, true}, {"DEBUG FILE", 16}});
    for (const auto& [build_id, module] : summary.modules) {
      const ModuleSymbols& symbols = summary.symbols.modules.at(build_id);
      const Colour colour = symbols.calls.empty() ? Colour::kYellow : Colour::kNone;
      table.AddRow({{Printable(module.module)},
                    {build_id.substr(0, kShownIdDigits), Colour::kDim},
                    {Share(symbols.calls.size(), module.addresses.size())},
                    {Printable(SymbolsText(symbols)), colour}});
    }
    text += table.Render(style) + "\n";
  }
  if (summary.java_names != 0) {
    text += std::to_string(summary.java_names) + " names of Java by the mapping\n";
  }
  for (const SymbolizedReport& report : summary.reports) {
    text += Printable(report.file) + "  " + Share(report.counts.named, report.counts.frames) +
            " frames named\n";
  }
  return text;
}

nlohmann::json SymbolizeToJson(const SymbolizeSummary& summary) {
  using nlohmann::json;
  json told = {{"reports", json::array()},
               {"modules", json::array()},
               {"java_names", summary.java_names},
               {"problems", summary.problems}};
  for (const SymbolizedReport& report : summary.reports) {
    told["reports"].push_back({{"id", report.id},
                               {"file", report.file},
                               {"frames", report.counts.frames},
                               {"named", report.counts.named}});
  }
  for (const auto& [build_id, module] : summary.modules) {
    const ModuleSymbols& symbols = summary.symbols.modules.at(build_id);
    told["modules"].push_back(
        {{"module", module.module},
         {"build_id", build_id},
         {"symbols", symbols.file.empty() ? json(nullptr) : json(symbols.file)},
         {"addresses", module.addresses.size()},
         {"named", symbols.calls.size()}});
  }
  return told;
}

}  // namespace jankbox::tools
