// System properties of the device that are lent: what was there before comes back in the end,
// whatever happens to the recording. Threads: one; waits.
#ifndef JANKBOX_TOOLS_ADB_DEVICE_PROPERTIES_H_
#define JANKBOX_TOOLS_ADB_DEVICE_PROPERTIES_H_

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tools/adb/adb_client.h"

namespace jankbox::tools {

class DeviceProperties {
 public:
  static constexpr uint64_t kRestorePatienceNs = 5'000'000'000;

  // `adb` outlives it.
  explicit DeviceProperties(const AdbClient* adb) : adb_(adb) {}
  // Restores what Restore() was not called for.
  ~DeviceProperties();
  DeviceProperties(const DeviceProperties&) = delete;
  DeviceProperties& operator=(const DeviceProperties&) = delete;

  // Sets one, and reads it back: old devices refuse in silence. REQUIRES a legal name and a value
  // without quotes.
  Status Set(const std::string& name, const std::string& value);

  // Puts back what was there before the first Set() of each. Nothing interrupts it; if the
  // device is gone the message says what is left on it.
  Status Restore();

 private:
  const AdbClient* const adb_;
  std::vector<std::pair<std::string, std::string>> before_;  // name, value
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ADB_DEVICE_PROPERTIES_H_
