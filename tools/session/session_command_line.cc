#include "tools/session/session_command_line.h"

namespace jankbox::tools {

void AddSession(CLI::App* app, SessionOptions* options) {
  CLI::App* session =
      app->add_subcommand("session", "Record the programs of a desktop session, off by default");
  session
      ->add_option("action", options->action,
                   "start or stop it, or print whether it is on; the unit starts and stops it")
      ->type_name("ACTION")
      ->required()
      ->check(CLI::IsMember({"start", "stop", "status"}).description(""));
  session->footer(
      "systemctl --user enable --now jankbox-session turns it on, disable --now turns it off.\n"
      "Programs that the user's systemd starts while it is on get the agent by LD_PRELOAD; those\n"
      "that have no library of a UI are not recorded. Running programs go on as they are.\n\n"
      "Exit status: 0, or 1 if it failed, or is off. 2: wrong usage.\n\n"
      "Examples:\n"
      "  systemctl --user enable --now jankbox-session\n"
      "  jankbox session status");
}

}  // namespace jankbox::tools
