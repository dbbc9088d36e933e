// Parses `adb devices -l` and chooses a device. Pure; allocates.
#ifndef JANKBOX_TOOLS_ADB_DEVICE_LIST_H_
#define JANKBOX_TOOLS_ADB_DEVICE_LIST_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace jankbox::tools {

struct AdbDevice {
  std::string serial;
  std::string state;  // "device" if it can be used; "unauthorized", "offline", "recovery", …
  std::string model;  // "Pixel_6"; empty if adb does not know it
};

// Lines that are no device (the title, messages of adb) are passed over.
std::vector<AdbDevice> ParseDevices(std::string_view text);

// The device of that serial, or, if none is named, the only one. The message says what is wrong
// and what to do: none, several, not that one, or not to be used in its state.
Result<AdbDevice> ChooseDevice(const std::vector<AdbDevice>& devices, const std::string& serial);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ADB_DEVICE_LIST_H_
