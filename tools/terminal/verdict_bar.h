// A verdict as whole percentages that sum to 100, as a bar, and in few words. Pure; allocates.
#ifndef JANKBOX_TOOLS_TERMINAL_VERDICT_BAR_H_
#define JANKBOX_TOOLS_TERMINAL_VERDICT_BAR_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/reports/report_view.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {

// `parts` shared out over `total` in proportion (largest remainder): the sum is exactly `total`,
// or 0 if all parts are 0.
std::vector<int> Apportion(const std::vector<double>& parts, int total);

// The bar and its legend, two or more lines, each ended. "" for a verdict without shares.
std::string VerdictBar(const TextStyle& style, const std::vector<ReportView::Share>& shares);

// "running 98 %", or with a second share of 20 % or more "lock 60 %, running 40 %". "" as above.
std::string CauseInBrief(const std::vector<ReportView::Share>& shares);

Colour CauseColour(const std::string& cause);

// Of an incident's kind: red if the app did not respond or died, none if it was asked for.
Colour KindColour(const std::string& kind);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_TERMINAL_VERDICT_BAR_H_
