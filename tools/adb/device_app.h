// One app on the device: is it there, does it run, and its folders of reports. They are read as the
// app itself, through run-as, if it is debuggable, and else, or besides, from its external files
// folder; no permission and no port is needed (docs/decisions/0014). Threads: one; waits.
#ifndef JANKBOX_TOOLS_ADB_DEVICE_APP_H_
#define JANKBOX_TOOLS_ADB_DEVICE_APP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tools/adb/adb_client.h"

namespace jankbox::tools {

// True for "com.example.app" and for a process of one, "com.example.app:web". Nothing that the
// device's shell could take for its own passes.
bool IsProcessName(const std::string& text);

enum class AppFolder {
  kNoBackup,  // no_backup/jankbox in the app's data, as the app itself (run-as): the Java shim's
  kFiles,     // files/jankbox, the same
  kExternal   // Android/data/PACKAGE/files/jankbox on the shared storage
};

// One report on the device, or a trace of the system that the app keeps beside its reports
// (system_trace, docs/guides/android.md).
struct RemoteReport {
  std::string name;  // "<uuid>.pftrace.zst" or "system-<digits>.pftrace", nothing else
  bool is_system_trace = false;
  AppFolder folder = AppFolder::kNoBackup;
  uint32_t crc = 0;    // POSIX cksum; only if `known`
  uint64_t bytes = 0;  // the same
  bool known = false;  // Android 5 has no cksum
};

class DeviceApp {
 public:
  // `process`: package, or package:process. `adb` outlives it.
  DeviceApp(const AdbClient* adb, const std::string& process);

  const std::string& process() const { return process_; }
  const std::string& package() const { return package_; }

  // kNotFound if it is not installed; kPermissionDenied if no folder of its can be read.
  Status Open();

  // Its process, 0 if it does not run.
  Result<int> Pid() const;

  // Ends it, and opens it as a finger on its icon does. Waits until it runs.
  Status Restart() const;

  // By name; none if there is no folder yet.
  Result<std::map<std::string, RemoteReport>> Reports() const;
  Result<std::map<std::string, RemoteReport>> SystemTraces() const;

  // The whole file. kNotFound if it is gone by now.
  Result<std::string> Fetch(const RemoteReport& report) const;

  // Free space of the folder that the app writes to, in MiB; nullopt if the device does not report
  // it.
  std::optional<uint64_t> FreeMib() const;

 private:
  // The files that the shell's `pattern` finds and whose names are of that kind.
  Result<std::map<std::string, RemoteReport>> List(const std::string& pattern,
                                                   bool system_traces) const;

  // `script`, run in a folder; exits with kNoFolder if there is none. It has no single quotes.
  std::string In(AppFolder folder, const std::string& script) const;

  const AdbClient* const adb_;
  const std::string process_;
  const std::string package_;
  std::vector<AppFolder> folders_;  // that can be read
};

// The POSIX checksum of `bytes`, as cksum prints it.
uint32_t PosixChecksum(std::string_view bytes);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ADB_DEVICE_APP_H_
