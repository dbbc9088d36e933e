#include "tools/adb/adb_command_line.h"

#include "tools/adb/device_app.h"

namespace jankbox::tools {
namespace {

// What both have: which app on which device.
void AddTarget(CLI::App* command, std::string* app, std::string* serial, std::string* adb) {
  command->add_option("-a,--app", *app, "package, or package:process")
      ->type_name("PACKAGE")
      ->required()
      ->check(CLI::Validator(
          [](const std::string& text) {
            return IsProcessName(text) ? std::string() : text + " is no name of a package";
          },
          ""));
  command->add_option("-s,--serial", *serial, "of the device [$ANDROID_SERIAL, else the only one]")
      ->type_name("SERIAL");
  command->add_option("--adb", *adb, "the adb program [adb]")->type_name("PROGRAM");
}

}  // namespace

void AddRecord(CLI::App* app, RecordOptions* options) {
  CLI::App* record = app->add_subcommand("record", "Record an app on a phone, through adb");
  AddTarget(record, &options->app, &options->serial, &options->adb);
  record->add_option("-t,--time", options->duration, "how long: 500ms, 10s, 2m [10s]")
      ->type_name("TIME")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return ParseDurationMs(text) != 0 ? std::string()
                                              : text + " is no time from 100ms to 10m";
          },
          ""));
  record
      ->add_option("-o,--output", options->output,
                   "file to write; the report itself where it ends in .zst; - for stdout")
      ->type_name("OUT")
      ->required();
  record
      ->add_option("--set", options->settings,
                   "an option of jankbox.h while it records, such as slow_message_ms=200")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  record->add_flag("-r,--restart", options->restart,
                   "start the app anew first: from its start on, with a window as long as TIME");
  record->add_option("--wait", options->wait_s, "seconds to wait for the report in the end [20]")
      ->type_name("S")
      ->check(CLI::Range(1u, 600u).description(""));
  record->add_flag("--json", options->json, "what was recorded as one JSON object");
  record->add_flag("-f,--force", options->force, "replace OUT where it exists");
  record->footer(
      "The app carries Jankbox, and is debuggable or profileable; the phone needs no permission "
      "and\n"
      "opens no port. Properties debug.jankbox.* are set meanwhile and put back, also after ^C. "
      "The\n"
      "trace holds the app's window, which ends with the recording. docs/guides/adb.md.\n\n"
      "Exit status: 0, or 1 where the phone, the app or OUT fails. 2: wrong usage.\n\n"
      "Examples:\n"
      "  jankbox record -a com.example.app -t 10s -o out.pftrace\n"
      "  jankbox record -a com.example.app -r -t 30s -s emulator-5554 -o start.pftrace.zst\n"
      "  jankbox record -a com.example.app --set slow_message_ms=100 -o out.pftrace");
}

void AddPull(CLI::App* app, PullOptions* options) {
  CLI::App* pull = app->add_subcommand("pull", "Copy an app's reports from a phone, through adb");
  AddTarget(pull, &options->app, &options->serial, &options->adb);
  pull->add_option("--dir", options->directory, "folder to copy into [./PACKAGE]")
      ->type_name("DIR");
  pull->add_flag("--json", options->json,
                 "{device, app, dir, pulled[report], system_traces[], skipped[], failed[]}");
  pull->footer(
      "Files that are there already are skipped; damaged ones are named on stderr and passed "
      "over.\n"
      "The phone keeps its reports.\n\n"
      "Exit status: 0, or 1 where something could not be copied. 2: wrong usage.\n\n"
      "Examples:\n"
      "  jankbox pull -a com.example.app\n"
      "  jankbox pull -a com.example.app --dir reports --json | jq '.pulled[].kind'");
}

}  // namespace jankbox::tools
