// `jankbox symbolize`: puts names, lines and inlined calls into reports and their traces, from
// debug files and from the mapping.txt of an obfuscated app. docs/symbolize.md describes it.
#ifndef JANKBOX_TOOLS_SYMBOLIZE_SYMBOLIZE_COMMAND_H_
#define JANKBOX_TOOLS_SYMBOLIZE_SYMBOLIZE_COMMAND_H_

#include <string>
#include <vector>

namespace jankbox::tools {

struct SymbolizeOptions {
  std::vector<std::string> reports;  // files or ids
  std::string place;  // folder or collector to look up an id; empty: the default folder
  std::vector<std::string> folders;  // of debug files
  std::string mapping;               // empty: none
  std::string output;                // "-": stdout; empty: in_place
  bool in_place = false;
  bool force = false;  // replace an existing output
  bool json = false;
};

// A report appears whole or stays as it is. Returns an exit status (exit_code.h): a failure too if
// a debug file could not be read, though the report is written with the names of the others.
int RunSymbolize(const SymbolizeOptions& options);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_SYMBOLIZE_SYMBOLIZE_COMMAND_H_
