#include "tools/terminal/command_app.h"

#include <unistd.h>

#include <sstream>
#include <vector>

#include "tools/terminal/exit_code.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

// CLI11's own usage line would list every option.
class CommandFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string) const override {
    const std::string name = app->get_name();
    const std::string rest = name == "run"         ? "run [OPTIONS] -- PROGRAM [ARGUMENTS]..."
                             : name == "session"   ? "session start|stop|status"
                             : name == "attach"    ? "attach [OPTIONS] PID"
                             : name == "list"      ? "list [--json] [DIR|URL]"
                             : name == "show"      ? "show [OPTIONS] FILE|ID"
                             : name == "export"    ? "export [OPTIONS] FILE|ID -o OUT.pftrace"
                             : name == "merge"     ? "merge --app REPORT --system CAPTURE -o OUT"
                             : name == "symbolize" ? "symbolize [OPTIONS] FILE|ID... -o OUT"
                             : name == "upload-symbols"
                                 ? "upload-symbols [OPTIONS] --to URL FILE|DIR..."
                             : name == "record"     ? "record -a PACKAGE [-t TIME] [OPTIONS] -o OUT"
                             : name == "pull"       ? "pull -a PACKAGE [OPTIONS]"
                             : name == "doctor"     ? "doctor [OPTIONS]"
                             : name == "ring"       ? "ring dump [OPTIONS] FILE"
                             : name == "clean"      ? "clean [--json]"
                             : name == "completion" ? "completion"
                             : name == "dump"       ? "ring dump FILE [--json] [--events [N]]"
                                                    : "COMMAND [OPTIONS] ...";
    return "Usage: jankbox " + rest + "\n";
  }
};

}  // namespace

std::unique_ptr<CLI::App> MakeCommandApp() {
  auto app = std::make_unique<CLI::App>("Jankbox: a flight recorder for UI threads", "jankbox");
  app->set_version_flag("--version", "jankbox " JANKBOX_COMMAND_VERSION);
  app->require_subcommand(1);
  const auto formatter = std::make_shared<CommandFormatter>();
  formatter->column_width(28);
  formatter->label("SUBCOMMANDS", "COMMANDS");
  app->formatter(formatter);
  app->footer(
      "Start with: jankbox run -- PROGRAM, then jankbox list and jankbox show ID.\n"
      "Exit status: 0 success, 1 failure, 2 wrong usage; `run` returns the program's exit status.\n"
      "Output has no colour if NO_COLOR is set or the output is not a terminal.");
  return app;
}

int UsageError(const std::string& message, const std::string& command) {
  PrintError(message);
  PrintError("try: jankbox " + (command.empty() ? "" : command + " ") + "--help");
  return kExitUsage;
}

int ParseFailed(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {  // --help, --version
    std::ostringstream text;
    app.exit(error, text, text);
    return WriteText(STDOUT_FILENO, text.str()) ? kExitOk : kExitFailed;
  }
  const std::vector<CLI::App*> commands = app.get_subcommands();
  std::string command = commands.empty() ? "" : commands[0]->get_name();
  if (command == "ring" && commands[0]->got_subcommand("dump")) command = "ring dump";
  return UsageError((command.empty() ? "" : command + ": ") + error.what(), command);
}

}  // namespace jankbox::tools
