#include "tools/adb/device_list.h"

#include <algorithm>

namespace jankbox::tools {
namespace {

constexpr std::string_view kModel = "model:";
constexpr std::string_view kBlank = " \t\r";

// States of adb 1.0.32 to today; "no permissions" is followed by its reason.
constexpr std::string_view kStates[] = {
    "device",         "offline",   "unauthorized", "authorizing", "connecting",
    "no permissions", "no device", "recovery",     "rescue",      "sideload",
    "bootloader",     "host",      "unknown",      "detached"};

std::string_view TakeWord(std::string_view* line) {
  const size_t begin = std::min(line->find_first_not_of(kBlank), line->size());
  const size_t end = std::min(line->find_first_of(kBlank, begin), line->size());
  const std::string_view word = line->substr(begin, end - begin);
  line->remove_prefix(std::min(line->find_first_not_of(kBlank, end), line->size()));
  return word;
}

std::string_view StateOf(std::string_view rest) {
  for (const std::string_view state : kStates) {
    const bool begins = rest.substr(0, state.size()) == state;
    if (begins && (rest.size() == state.size() || kBlank.find(rest[state.size()]) != kBlank.npos ||
                   state == "no permissions")) {
      return state;
    }
  }
  return {};
}

Status Unusable(const AdbDevice& device) {
  const std::string& state = device.state;
  std::string what = device.serial + " is " + state;
  if (state == "unauthorized" || state == "authorizing") {
    what += ": unlock it and allow USB debugging from this computer";
  } else if (state == "offline" || state == "connecting") {
    what += ": plug it in again, or try: adb reconnect offline";
  } else if (state == "no permissions") {
    what = device.serial +
           ": no permission to open it: install udev rules (Debian: "
           "android-sdk-platform-tools-common), then: adb kill-server";
  } else {
    what = device.serial + " is in state \"" + state + "\": start Android on it";
  }
  return Status(StatusCode::kUnavailable, what);
}

std::string Named(const std::vector<AdbDevice>& devices) {
  std::string text;
  for (const AdbDevice& device : devices) {
    text += (text.empty() ? "" : ", ") + device.serial + " (" + device.state +
            (device.model.empty() ? "" : ", " + device.model) + ")";
  }
  return text;
}

}  // namespace

std::vector<AdbDevice> ParseDevices(std::string_view text) {
  std::vector<AdbDevice> devices;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    AdbDevice device;
    device.serial = TakeWord(&line);
    device.state = StateOf(line);
    if (device.serial.empty() || device.serial == "*" || device.state.empty()) continue;
    while (!line.empty()) {
      const std::string_view word = TakeWord(&line);
      if (word.substr(0, kModel.size()) == kModel) device.model = word.substr(kModel.size());
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

Result<AdbDevice> ChooseDevice(const std::vector<AdbDevice>& devices, const std::string& serial) {
  if (devices.empty()) {
    return Status(StatusCode::kNotFound,
                  (serial.empty() ? "no device: " : serial + " is not connected: ") +
                      std::string("adb finds none (check USB debugging and the cable)"));
  }
  if (serial.empty() && devices.size() > 1) {
    return Status(StatusCode::kInvalidArgument,
                  std::to_string(devices.size()) +
                      " devices are connected, choose one with -s: " + Named(devices));
  }
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const AdbDevice& device) {
    return serial.empty() || device.serial == serial;
  });
  if (found == devices.end()) {
    return Status(StatusCode::kNotFound,
                  serial + " is not connected; connected: " + Named(devices));
  }
  if (found->state != "device") return Unusable(*found);
  return *found;
}

}  // namespace jankbox::tools
