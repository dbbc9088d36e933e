#include "tools/symbolize/symbolize_command_line.h"

#include "tools/reports/show_command_line.h"
#include "tools/terminal/output_file.h"

namespace jankbox::tools {

void AddSymbolize(CLI::App* app, SymbolizeOptions* options) {
  CLI::App* symbolize = app->add_subcommand(
      "symbolize", "Put names, lines and inlined calls into reports, from debug files");
  symbolize
      ->add_option("reports", options->reports,
                   "reports' files, or the first characters of their ids")
      ->type_name("FILE|ID")
      ->required();
  symbolize
      ->add_option("-s,--symbols", options->folders,
                   "a folder of debug files, with any names; repeatable. /usr/lib/debug is always "
                   "searched")
      ->type_name("DIR")
      ->expected(1)
      ->take_all();
  symbolize
      ->add_option("-m,--mapping", options->mapping,
                   "mapping.txt of R8 or ProGuard, for names of Java")
      ->type_name("FILE");
  symbolize->add_option("-o,--output", options->output, "report to write; - for stdout")
      ->type_name("OUT");
  symbolize->add_flag("-i,--in-place", options->in_place, "replace the reports themselves");
  AddPlace(symbolize, &options->place);
  symbolize->add_flag("--json", options->json,
                      "print {reports[{id, file, frames, named}], modules[{module, build_id, "
                      "symbols, addresses, named}], java_names, problems[]}");
  symbolize->add_flag("-f,--force", options->force, "replace OUT if it exists");
  symbolize->footer(
      "Debug files are found by build id: in each DIR and below, under any name; as\n"
      ".build-id/xx/yyyy.debug; and at the servers of $DEBUGINFOD_URLS, if it is set. An\n"
      "unstripped program is a debug file, too. A process of its own reads each file, with limits\n"
      "on memory and time: a damaged file costs the names of its module only.\n"
      "The report keeps its id and revision. Its trace gets the names at its end, for Perfetto.\n\n"
      "Exit status: 0, or 1 if a report, a debug file or the mapping cannot be read, or a report\n"
      "cannot be written. With a damaged debug file, reports are written with the other names.\n"
      "2: wrong usage.\n\n"
      "Examples:\n"
      "  jankbox symbolize --in-place -s build/release 0195a3c2-7f01\n"
      "  jankbox symbolize -s symbols -o named.pftrace.zst 0195a3c2-7f01\n"
      "  jankbox symbolize -i -m app/build/outputs/mapping/release/mapping.txt *.pftrace.zst\n"
      "  DEBUGINFOD_URLS=https://debuginfod.debian.net jankbox symbolize -i 0195a3c2-7f01");
}

std::string SymbolizeUsageError(const SymbolizeOptions& options) {
  if (options.output.empty() == !options.in_place)
    return "one of --output and --in-place is required";
  if (!options.in_place && options.reports.size() != 1) return "--output takes one report";
  if (options.in_place && options.place.find("://") != std::string::npos) {
    return "--in-place needs reports in a folder";
  }
  if (options.json && !options.in_place && IsStdout(options.output)) {
    return "--json and the report cannot both go to stdout";
  }
  return "";
}

}  // namespace jankbox::tools
