// The phone's shell, through the `adb` program: which device, and scripts run on it whose output
// comes back byte for byte and with an exit status (docs/guides/adb.md). Every failure is a
// sentence that says what to do. Threads: one; waits.
#ifndef JANKBOX_TOOLS_ADB_ADB_CLIENT_H_
#define JANKBOX_TOOLS_ADB_ADB_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/process_runner.h"
#include "base/status.h"
#include "tools/adb/device_list.h"

namespace jankbox::tools {

struct ShellOutput {
  std::string out;  // stdout and stderr
  int status = 0;
};

class AdbClient {
 public:
  static constexpr uint64_t kPatienceNs = 20'000'000'000;  // without a word of adb's

  // `program`: "adb", or its path. `interrupt`: ends what is under way with kBusy.
  AdbClient(std::string program, Interrupt interrupt, uint64_t patience_ns = kPatienceNs);

  // Checks adb itself and chooses the device: `serial`, else $ANDROID_SERIAL, else the only one.
  Status Connect(const std::string& serial);
  const AdbDevice& device() const { return device_; }

  // Runs `script` (POSIX shell) on the device. kUnavailable if the device is gone or does not
  // answer, kUnsupported if it cannot do this, kInvalidArgument beyond `max_bytes`.
  // REQUIRES Connect().
  Result<ShellOutput> Shell(const std::string& script, size_t max_bytes = 1 << 20) const;

  // The same while nothing may interrupt: for putting things back.
  AdbClient Uninterrupted(uint64_t patience_ns) const;

 private:
  Status CheckVersion() const;
  Result<std::vector<AdbDevice>> Devices() const;
  Result<std::string> Run(const std::vector<std::string>& arguments, size_t max_bytes,
                          CapturedEnd* end) const;
  Status Lost(const CapturedEnd& end) const;

  const std::string program_;
  const Interrupt interrupt_;
  const uint64_t patience_ns_;
  AdbDevice device_;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ADB_ADB_CLIENT_H_
