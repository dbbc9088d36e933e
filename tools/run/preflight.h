// What `jankbox run` finds out about a program before it starts it: whether the agent can be
// preloaded into it at all, and what has to be preloaded before it. Reads the program's file, and
// that of a script's interpreter. Cold; allocates.
#ifndef JANKBOX_TOOLS_RUN_PREFLIGHT_H_
#define JANKBOX_TOOLS_RUN_PREFLIGHT_H_

#include <string>

namespace jankbox::tools {

struct Preflight {
  // Why the agent cannot work in it, as the rest of "nothing is watched: "; empty if it may.
  std::string obstacle;
  // A library that has to come before the agent (a sanitizer's runtime); empty if there is none.
  std::string first_library;
  // It is a JDK's `java`, which takes the options of a Java VM, and no script that starts one.
  bool is_java = false;
  // It is Node.js itself, which takes V8's options, and no script that starts it.
  bool is_node = false;
};

// `program` as execvp() takes it. A file that cannot be read or is none is no obstacle: starting it
// says what is wrong.
Preflight InspectProgram(const std::string& program);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_PREFLIGHT_H_
