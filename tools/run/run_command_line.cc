#include "tools/run/run_command_line.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "sdk/runtime/run_socket.h"
#include "tools/run/watch_command_line.h"
#include "tools/terminal/command_app.h"
#include "tools/terminal/exit_code.h"

namespace jankbox::tools {
namespace {

// PROGRAM and its arguments: the words that the parser left, then those from the first "--" on,
// which the parser never saw.
int TakeProgram(const CLI::App& run, const std::vector<std::string>& from_dashes,
                RunOptions* options) {
  const std::vector<std::string> before = run.remaining();
  if (!before.empty() && before[0].size() > 1 && before[0][0] == '-') {
    return UsageError("run: unknown option " + before[0] + " (the program follows --)", "run");
  }
  options->program = before;
  // The "--" before the program belongs to jankbox; later ones belong to the program.
  const size_t own_dashes = before.empty() && !from_dashes.empty() ? 1 : 0;
  options->program.insert(options->program.end(),
                          from_dashes.begin() + static_cast<ptrdiff_t>(own_dashes),
                          from_dashes.end());
  if (options->program.empty() || options->program[0].empty()) {
    return UsageError("run: PROGRAM is missing (jankbox run -- PROGRAM)", "run");
  }
  const std::string& url = options->upload_url;
  if (!url.empty() && url.rfind("http://", 0) != 0 && url.rfind("https://", 0) != 0) {
    return UsageError("run: --upload needs a URL that starts with http:// or https://", "run");
  }
  if (options->anr_ms && options->slow_ms && *options->anr_ms < *options->slow_ms) {
    return UsageError("run: --anr-ms is less than --slow-ms", "run");
  }
  return kExitOk;
}

}  // namespace

void AddRun(CLI::App* app, RunOptions* options) {
  CLI::App* run = app->add_subcommand("run", "Run a program and record why its UI thread is slow");
  AddWatching(run, options);
  run->add_option("--upload", options->upload_url, "send reports to the collector at this URL")
      ->type_name("URL");
  run->add_flag("--children", options->children,
                "record the programs that the program starts, too");
  run->add_option("--only", options->only,
                  "record the programs of this name only, also those that the program starts; "
                  "NAME,NAME and NA* work")
      ->type_name("NAME")
      ->check([](const std::string& names) {
        return names.size() <= kMaxOnlyBytes ? std::string() : "is too long";
      });
  run->add_option("--thread", options->threads,
                  "watch the loop of the thread of this name, too (may be repeated; NA* works)")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  run->add_flag("--startup", options->startup,
                "record from before main() on, with threads of Jankbox's own (docs/loops.md)");
  run->add_flag("--java", options->java,
                "watch the event threads of Java programs (Swing, AWT), also of those that a "
                "script starts");
  run->add_flag("--js", options->js, "name the JavaScript functions of Node.js programs");
  run->add_flag("-q,--quiet", options->quiet, "print errors only");
  run->prefix_command();
  run->footer(
      "The program keeps its input, output and exit status. jankbox writes to stderr only. With\n"
      "--java, a Java VM that a script starts writes one line of its own there: \"Picked up\n"
      "JAVA_TOOL_OPTIONS\". `run --java -- java` has no such line.\n"
      "With --js, Node.js writes /tmp/perf-PID.map, which grows with the code that it compiles;\n"
      "if a script starts it, it writes isolate-*.log in its working folder, too.\n\n"
      "Exit status: the program's. 127: not found. 126: not executable. 2: wrong usage.\n\n"
      "Examples:\n"
      "  jankbox run -- gtk3-widget-factory\n"
      "  jankbox run --slow-ms 200 --dir /tmp/reports --js -- node server.js\n"
      "  jankbox run --java -- java -jar editor.jar\n"
      "  jankbox run --upload http://127.0.0.1:8750 -- ./my-app --flag");
}

int RunFromCommandLine(const std::vector<std::string>& arguments) {
  const std::unique_ptr<CLI::App> app = MakeCommandApp();
  RunOptions options;
  AddRun(app.get(), &options);
  // Words after "--" belong to the program: the parser must not see them.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  std::vector<std::string> parsed(arguments.begin(), dashes);
  std::reverse(parsed.begin(), parsed.end());  // the order that CLI11 takes a vector in
  try {
    app->parse(parsed);
  } catch (const CLI::ParseError& error) {
    return ParseFailed(*app, error);
  }
  const int status = TakeProgram(*app->get_subcommand("run"), {dashes, arguments.end()}, &options);
  return status != kExitOk ? status : RunProgram(options);
}

}  // namespace jankbox::tools
