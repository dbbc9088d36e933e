// `jankbox export`: the trace inside a report, as a plain Perfetto trace for any version of any
// viewer, or as the text that systrace reads.
#ifndef JANKBOX_TOOLS_REPORTS_EXPORT_COMMAND_H_
#define JANKBOX_TOOLS_REPORTS_EXPORT_COMMAND_H_

#include <string>

namespace jankbox::tools {

struct ExportOptions {
  std::string file_or_id;
  std::string place;   // folder or collector to look up an id; empty: the default folder
  std::string output;  // "-": stdout
  bool systrace = false;
  bool force = false;  // replace an existing file
};

// The output appears whole or not at all. Returns an exit status (exit_code.h).
int RunExport(const ExportOptions& options);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_REPORTS_EXPORT_COMMAND_H_
