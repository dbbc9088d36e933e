#include "tools/jankbox/completion.h"

#include <CLI/CLI.hpp>

namespace jankbox::tools {
namespace {

// The long names of its options, and its commands.
std::string WordsOf(const CLI::App& app) {
  std::string words;
  const auto add = [&words](const std::string& word) {
    words += (words.empty() ? "" : " ") + word;
  };
  for (const CLI::App* command : app.get_subcommands(nullptr)) add(command->get_name());
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) add("--" + name);
  }
  return words;
}

}  // namespace

std::string BashCompletion(const CLI::App& app) {
  std::string script =
      "# bash completion for jankbox\n"
      "_jankbox() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} words i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 2; i < COMP_CWORD; ++i)); do  # the program and its own arguments\n"
      "    [[ ${COMP_WORDS[i]} == -- ]] && declare -F _command_offset > /dev/null && {\n"
      "      _command_offset $((i + 1))\n"
      "      return\n"
      "    }\n"
      "  done\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    words='" +
      WordsOf(app) +
      "'\n"
      "  else\n"
      "    case ${COMP_WORDS[1]} in\n";
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    script += "      " + command->get_name() + ") words='" + WordsOf(*command) + "' ;;\n";
  }
  script +=
      "    esac\n"
      "  fi\n"
      "  [[ $word == -* || $COMP_CWORD == 1 || $words != -* ]] &&\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  ((${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "}\n"
      "complete -o filenames -F _jankbox jankbox\n";
  return script;
}

}  // namespace jankbox::tools
