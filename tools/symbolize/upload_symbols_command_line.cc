#include "tools/symbolize/upload_symbols_command.h"

namespace jankbox::tools {

void AddUploadSymbols(CLI::App* app, UploadSymbolsOptions* options) {
  CLI::App* upload = app->add_subcommand(
      "upload-symbols", "Send debug files to a collector, which names functions by them");
  upload
      ->add_option("paths", options->paths,
                   "debug files, unstripped programs, or folders of these; with --app a "
                   "mapping.txt of R8 or ProGuard")
      ->type_name("FILE|DIR")
      ->required();
  upload->add_option("-t,--to", options->url, "the collector's URL")->type_name("URL")->required();
  upload
      ->add_option("--app", options->app,
                   "the mapping's app, as in its reports: app_name, else process")
      ->type_name("NAME");
  upload
      ->add_option("--app-version", options->app_version,
                   "the mapping's version, as in its reports; may be empty")
      ->type_name("VERSION");
  upload->add_flag("--json", options->json,
                   "print {uploaded[{file, build_id, app, app_version, contents, bytes, result, "
                   "reports}], skipped, problems[]}");
  upload->add_flag("-f,--force", options->force, "send files that the collector has, too");
  upload->footer(
      "The build id decides which reports a debug file is for; its name does not matter. Of a "
      "folder,\n"
      "the files with symbols are sent, one for each build id, and the others are skipped. A file\n"
      "that the collector has is not sent again (result \"present\"). The collector then names "
      "the\n"
      "functions of all reports of that build, those from before too, and puts them into their\n"
      "groups; links to the old groups go on working.\n\n"
      "Exit status: 0, or 1 if a file cannot be read or sent, or there is nothing to send. 2: "
      "wrong\n"
      "usage.\n\n"
      "Examples:\n"
      "  jankbox upload-symbols --to http://127.0.0.1:8750 build/release/app\n"
      "  jankbox upload-symbols --to http://127.0.0.1:8750 --json symbols/\n"
      "  jankbox upload-symbols --to http://127.0.0.1:8750 --app com.example.app \\\n"
      "      --app-version 1.4.2 app/build/outputs/mapping/release/mapping.txt");
}

std::string UploadSymbolsUsageError(const UploadSymbolsOptions& options) {
  if (!options.url.starts_with("http://") && !options.url.starts_with("https://")) {
    return "--to needs a URL that starts with http:// or https://";
  }
  if (options.app.empty() != !options.app_version.has_value()) {
    return "a mapping needs both --app and --app-version";
  }
  if (!options.app.empty() && options.paths.size() != 1) {
    return "--app takes one mapping";
  }
  return "";
}

}  // namespace jankbox::tools
