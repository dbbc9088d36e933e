// The options that `run` and `attach` have in common.
#ifndef JANKBOX_TOOLS_RUN_WATCH_COMMAND_LINE_H_
#define JANKBOX_TOOLS_RUN_WATCH_COMMAND_LINE_H_

#include <CLI/CLI.hpp>

#include "tools/reports/report_folder.h"

namespace jankbox::tools {

// `options` outlives `command`.
template <typename WatchingOptions>
void AddWatching(CLI::App* command, WatchingOptions* options) {
  command->add_option("--dir", options->directory, kFolderDefault)->type_name("DIR");
  command
      ->add_option("--slow-ms", options->slow_ms,
                   "report a message that takes this long as slow [100]")
      ->type_name("MS")
      ->check(CLI::Range(10u, 600'000u).description(""));
  command->add_option("--anr-ms", options->anr_ms, "report a block of this length as an ANR [5000]")
      ->type_name("MS")
      ->check(CLI::Range(10u, 600'000u).description(""));
  command->add_option("--window-s", options->window_s, "seconds of history in a report [10]")
      ->type_name("S")
      ->check(CLI::Range(1u, 600u).description(""));
  command
      ->add_option("--min-free-mib", options->min_free_mib,
                   "write no report that would leave less free disk space [64]")
      ->type_name("MIB")
      ->check(CLI::Range(0u, 1u << 30).description(""));
}

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_WATCH_COMMAND_LINE_H_
