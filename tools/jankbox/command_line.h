// The command line of `jankbox`: subcommands, options, help, and what a mistyped one may have
// meant.
#ifndef JANKBOX_TOOLS_JANKBOX_COMMAND_LINE_H_
#define JANKBOX_TOOLS_JANKBOX_COMMAND_LINE_H_

#include <string>
#include <vector>

namespace jankbox::tools {

// Parses and does what it says; returns the exit status (exit_code.h).
int RunCommandLine(const std::vector<std::string>& arguments);

// The word of `known` nearest to `word` (Damerau-Levenshtein), "" if none is near.
std::string NearestWord(const std::string& word, const std::vector<std::string>& known);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_JANKBOX_COMMAND_LINE_H_
