// `jankbox pull`: the reports of an app on a phone, through adb, into a folder.
#ifndef JANKBOX_TOOLS_ADB_PULL_COMMAND_H_
#define JANKBOX_TOOLS_ADB_PULL_COMMAND_H_

#include <string>

namespace jankbox::tools {

struct PullOptions {
  std::string app;        // package, or package:process
  std::string directory;  // empty: one named after the package, in the current folder
  std::string serial;     // empty: $ANDROID_SERIAL, else the only device
  std::string adb = "adb";
  bool json = false;
};

// Prints; returns an exit status (exit_code.h), or ends by the signal that interrupted it. Each
// file is read by the report reader before it appears, whole.
int RunPull(const PullOptions& options);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ADB_PULL_COMMAND_H_
