// `jankbox list`: the reports of a folder or a collector, newest first, as a table or as JSON.
#ifndef JANKBOX_TOOLS_REPORTS_LIST_COMMAND_H_
#define JANKBOX_TOOLS_REPORTS_LIST_COMMAND_H_

#include <string>
#include <vector>

#include "tools/reports/incident_counts.h"
#include "tools/reports/report_view.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {

struct ListOptions {
  std::string place;  // folder, file or URL; empty: the default folder
  bool json = false;
};

// Prints; returns an exit status (exit_code.h).
int RunList(const ListOptions& options);

// `counts`: of the same place.
std::string RenderList(const TextStyle& style, const std::vector<ReportView>& reports,
                       const IncidentCounts& counts = {});

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_REPORTS_LIST_COMMAND_H_
