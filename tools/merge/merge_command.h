// `jankbox merge`: a report's trace and a system-wide capture of the same seconds as one Perfetto
// trace.
#ifndef JANKBOX_TOOLS_MERGE_MERGE_COMMAND_H_
#define JANKBOX_TOOLS_MERGE_MERGE_COMMAND_H_

#include <string>

namespace jankbox::tools {

struct MergeOptions {
  std::string app;     // a report's file, or the beginning of its id
  std::string place;   // folder or collector to look up an id; empty: the default folder
  std::string system;  // the capture
  std::string output;  // "-": stdout; compressed if it ends in .zst
  std::string clock;   // trace_clock of the capture, if the file does not say it
  bool json = false;
  bool force = false;        // replace an existing file
  bool join_anyway = false;  // what has no time in common, or another boot's clock
};

// The output appears whole or not at all. Prints a summary; returns an exit status (exit_code.h).
int RunMerge(const MergeOptions& options);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_MERGE_COMMAND_H_
