// The completion script for bash, from the parser's own commands and options.
#ifndef JANKBOX_TOOLS_JANKBOX_COMPLETION_H_
#define JANKBOX_TOOLS_JANKBOX_COMPLETION_H_

#include <CLI/App.hpp>
#include <string>

namespace jankbox::tools {

std::string BashCompletion(const CLI::App& app);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_JANKBOX_COMPLETION_H_
