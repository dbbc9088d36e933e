// `jankbox show`: prints one report: what was slow, where and why.
#ifndef JANKBOX_TOOLS_REPORTS_SHOW_COMMAND_H_
#define JANKBOX_TOOLS_REPORTS_SHOW_COMMAND_H_

#include <string>
#include <vector>

#include "tools/reports/incident_counts.h"
#include "tools/reports/report_view.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {

struct ShowOptions {
  std::string file_or_id;
  std::string place;  // folder or collector to look up an id; empty: the default folder
  bool json = false;
  bool all_frames = false;
  bool as_sent = false;               // every text of its file
  std::vector<std::string> sections;  // only these, by name; empty: the summary and all of them
  bool open = false;                  // in Perfetto (tools/open)
  std::string ui = "https://ui.perfetto.dev";  // its address
  std::string viewer;   // the folder of a viewer that is used instead; "": none
  bool browser = true;  // is started
};

// Prints; returns an exit status (exit_code.h).
int RunShow(const ShowOptions& options);

// `export_argument`: what `jankbox export` takes to find the same report. `count`: of the incidents
// with its fingerprint, if it is known.
std::string RenderReport(const TextStyle& style, const ReportView& report, bool all_frames,
                         const std::string& export_argument, const IncidentCount& count = {});

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_REPORTS_SHOW_COMMAND_H_
