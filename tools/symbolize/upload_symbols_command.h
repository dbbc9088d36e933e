// `jankbox upload-symbols`: sends debug files and mappings to a collector, which names the
// functions of its reports by them. docs/symbolize.md describes it.
#ifndef JANKBOX_TOOLS_SYMBOLIZE_UPLOAD_SYMBOLS_COMMAND_H_
#define JANKBOX_TOOLS_SYMBOLIZE_UPLOAD_SYMBOLS_COMMAND_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace jankbox::tools {

struct UploadSymbolsOptions {
  std::vector<std::string> paths;  // debug files, and folders of them; or one mapping
  std::string url;                 // of the collector
  std::string app;                 // of a mapping; empty: debug files
  std::optional<std::string> app_version;
  bool force = false;  // send what the collector has, too
  bool json = false;
};

void AddUploadSymbols(CLI::App* app, UploadSymbolsOptions* options);

// What is wrong with the options together; empty if nothing is.
std::string UploadSymbolsUsageError(const UploadSymbolsOptions& options);

// Returns an exit status (exit_code.h): a failure if a file could not be sent, or none was found.
int RunUploadSymbols(const UploadSymbolsOptions& options);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_SYMBOLIZE_UPLOAD_SYMBOLS_COMMAND_H_
