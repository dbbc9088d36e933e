// Facts of a report that the terminal shows as a line each, from its JSON. A field that is only
// shown is read here, and nowhere else. Pure; allocates.
#ifndef JANKBOX_TOOLS_REPORTS_REPORT_FACTS_H_
#define JANKBOX_TOOLS_REPORTS_REPORT_FACTS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace jankbox::tools {

struct ReportFact {
  const char* label = "";  // the same for facts that follow each other and belong together
  std::string text;        // printable
};

// In the order in which they are shown.
std::vector<ReportFact> ReportFacts(const nlohmann::json& report);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_REPORTS_REPORT_FACTS_H_
