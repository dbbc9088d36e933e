// A section of a report as text: every field of it that is set, by its name in the report's JSON.
#ifndef JANKBOX_TOOLS_REPORTS_SECTION_TEXT_H_
#define JANKBOX_TOOLS_REPORTS_SECTION_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "report/report_json.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {

// Empty if no field of the section is set. Lists are cut after 40 entries, unless `all`.
std::string SectionText(const TextStyle& style, const ReportSection& section,
                        const nlohmann::json& report, bool all);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_REPORTS_SECTION_TEXT_H_
