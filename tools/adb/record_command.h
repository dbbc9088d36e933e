// `jankbox record`: the last seconds of an app on a phone, through adb, as one trace.
#ifndef JANKBOX_TOOLS_ADB_RECORD_COMMAND_H_
#define JANKBOX_TOOLS_ADB_RECORD_COMMAND_H_

#include <cstdint>
#include <string>
#include <vector>

namespace jankbox::tools {

struct RecordOptions {
  std::string app;               // package, or package:process
  std::string duration = "10s";  // "500ms", "10s", "2m", "10"
  std::string output;            // "-": stdout; the sealed report where it ends in .zst
  std::string serial;            // empty: $ANDROID_SERIAL, else the only device
  std::string adb = "adb";
  std::vector<std::string> settings;  // "slow_message_ms=200"
  uint32_t wait_s = 20;               // for the report
  bool restart = false;
  bool json = false;
  bool force = false;  // replace an existing file
};

// 0 if `text` is no duration from 100 ms to 10 min.
uint64_t ParseDurationMs(const std::string& text);

// Prints; returns an exit status (exit_code.h), or ends by the signal that interrupted it. Nothing
// of the phone stays changed, and the output appears whole or not at all.
int RunRecord(const RecordOptions& options);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ADB_RECORD_COMMAND_H_
