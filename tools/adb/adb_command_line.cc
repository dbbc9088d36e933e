#include "tools/adb/adb_command_line.h"

#include "tools/adb/device_app.h"

namespace jankbox::tools {
namespace {

// Options of both commands: which app on which device.
void AddTarget(CLI::App* command, std::string* app, std::string* serial, std::string* adb) {
  command->add_option("-a,--app", *app, "package, or package:process")
      ->type_name("PACKAGE")
      ->required()
      ->check(CLI::Validator(
          [](const std::string& text) {
            return IsProcessName(text) ? std::string() : text + " is not a package name";
          },
          ""));
  command
      ->add_option("-s,--serial", *serial,
                   "serial of the device [$ANDROID_SERIAL, else the only one]")
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
                                              : text + " is not a time from 100ms to 10m";
          },
          ""));
  record
      ->add_option("-o,--output", options->output,
                   "file to write: a trace, or the report if it ends in .zst; - for stdout")
      ->type_name("OUT")
      ->required();
  record
      ->add_option("--set", options->settings,
                   "set an option of jankbox.h while it records, e.g. slow_message_ms=200")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  record->add_flag("-r,--restart", options->restart,
                   "restart the app and record from its start, with a window of TIME");
  record->add_option("--wait", options->wait_s, "seconds to wait for the report at the end [20]")
      ->type_name("S")
      ->check(CLI::Range(1u, 600u).description(""));
  record->add_flag("--json", options->json, "print the result as one JSON object");
  record->add_flag("-f,--force", options->force, "replace OUT if it exists");
  record->footer(
      "The app must contain Jankbox and be debuggable or profileable. The phone needs no\n"
      "permission and opens no port. The command sets properties debug.jankbox.* and restores "
      "them\n"
      "at the end, also after ^C. The trace contains the app's window, which ends with the\n"
      "recording. See docs/guides/adb.md.\n\n"
      "Exit status: 0, or 1 if the phone, the app or OUT fails. 2: wrong usage.\n\n"
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
                 "print {device, app, dir, pulled[report], system_traces[], skipped[], failed[]}");
  pull->footer(
      "Files that DIR already has are skipped. Damaged files are skipped and named on stderr.\n"
      "The phone keeps its reports.\n\n"
      "Exit status: 0, or 1 if a file could not be copied. 2: wrong usage.\n\n"
      "Examples:\n"
      "  jankbox pull -a com.example.app\n"
      "  jankbox pull -a com.example.app --dir reports --json | jq '.pulled[].kind'");
}

}  // namespace jankbox::tools
