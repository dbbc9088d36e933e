#include "tools/adb/device_properties.h"

#include <algorithm>

namespace jankbox::tools {
namespace {

constexpr size_t kOldNameMax = 31;  // PROP_NAME_MAX - 1, until Android 8

// For the device's shell; nothing is left of what it could take for its own.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string SetCommand(const std::string& name, const std::string& value) {
  return "setprop " + name + " " + Quoted(value);
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

DeviceProperties::~DeviceProperties() { (void)Restore().ok(); }

Status DeviceProperties::Set(const std::string& name, const std::string& value) {
  const Result<ShellOutput> old = adb_->Shell("getprop " + name);
  if (!old.ok()) return old.status();
  const std::vector<std::string> before = Lines(old->out);
  const bool known = std::any_of(before_.begin(), before_.end(),
                                 [&](const auto& entry) { return entry.first == name; });
  // Noted first: an interrupted setprop may have done its work.
  if (!known) before_.emplace_back(name, before.empty() ? "" : before[0]);
  const Result<ShellOutput> set = adb_->Shell(SetCommand(name, value) + "; getprop " + name);
  if (!set.ok()) return set.status();
  const std::vector<std::string> after = Lines(set->out);
  if (!after.empty() && after.back() == value) return Status::Ok();
  std::string why = after.size() > 1 ? ": " + after[0] : "";
  if (name.size() > kOldNameMax) why += " (before Android 8 names end after 31 characters)";
  return Status(StatusCode::kPermissionDenied,
                adb_->device().serial + " refuses to set " + name + why);
}

Status DeviceProperties::Restore() {
  if (before_.empty()) return Status::Ok();
  std::string script;
  for (const auto& [name, value] : before_) {
    script += (script.empty() ? "" : "; ") + SetCommand(name, value);
  }
  before_.clear();
  const Result<ShellOutput> done = adb_->Uninterrupted(kRestorePatienceNs).Shell(script);
  if (done.ok() && done->status == 0) return Status::Ok();
  const std::string why = done.ok() ? done->out : done.status().message();
  return Status(StatusCode::kUnavailable, "properties of " + adb_->device().serial +
                                              " were not restored: " + why +
                                              "; restart it, or run: adb -s " +
                                              adb_->device().serial + " shell \"" + script + "\"");
}

}  // namespace jankbox::tools
