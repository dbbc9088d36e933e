#include "tools/adb/device_app.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/clock.h"
#include "base/uuid.h"
#include "report/report_file.h"

namespace jankbox::tools {
namespace {

constexpr int kNoFolder = 9;
constexpr int kNoFile = 8;
constexpr uint64_t kStartPatienceNs = 15 * kNsPerSecond;
constexpr useconds_t kBetweenLooksUs = 200'000;
constexpr size_t kMaxPackage = 223;  // Android's own bound

std::vector<std::string> Words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

bool IsReportName(const std::string& name) {
  const std::string_view suffix = kReportFileSuffix;
  return name.size() > suffix.size() &&
         name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0 &&
         IsUuid(std::string_view(name).substr(0, name.size() - suffix.size()));
}

// dev.jankbox.SystemTraces' names.
bool IsSystemTraceName(const std::string& name) {
  const std::string_view prefix = "system-";
  const std::string_view suffix = ".pftrace";
  if (name.size() <= prefix.size() + suffix.size()) return false;
  const std::string_view digits =
      std::string_view(name).substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  return name.starts_with(prefix) && name.ends_with(suffix) &&
         digits.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string ExternalStorage() { return "\"${EXTERNAL_STORAGE:-/sdcard}\""; }

}  // namespace

bool IsProcessName(const std::string& text) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  };
  const size_t colon = text.find(':');
  const std::string package = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "x" : text.substr(colon + 1);
  return !package.empty() && package[0] != '.' && !rest.empty() && text.size() <= kMaxPackage &&
         std::all_of(package.begin(), package.end(), is_word) &&
         std::all_of(rest.begin(), rest.end(), is_word);
}

uint32_t PosixChecksum(std::string_view bytes) {
  uint32_t crc = 0;
  const auto add = [&crc](uint8_t byte) {
    crc ^= uint32_t{byte} << 24;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc >> 31) != 0 ? 0x04C11DB7u : 0);
  };
  for (const char byte : bytes) add(static_cast<uint8_t>(byte));
  for (size_t length = bytes.size(); length != 0; length >>= 8) add(static_cast<uint8_t>(length));
  return ~crc;
}

DeviceApp::DeviceApp(const AdbClient* adb, const std::string& process)
    : adb_(adb), process_(process), package_(process.substr(0, process.find(':'))) {}

std::string DeviceApp::In(AppFolder folder, const std::string& script) const {
  const std::string or_exit = " 2>/dev/null || exit " + std::to_string(kNoFolder) + "; ";
  if (folder != AppFolder::kExternal) {
    const std::string own = folder == AppFolder::kNoBackup ? "no_backup" : "files";
    return "run-as " + package_ + " sh -c 'cd " + own + "/jankbox" + or_exit + script + "'";
  }
  return "cd " + ExternalStorage() + "/Android/data/" + package_ + "/files/jankbox" + or_exit +
         script;
}

Status DeviceApp::Open() {
  const std::string& serial = adb_->device().serial;
  const Result<ShellOutput> path = adb_->Shell("pm path " + package_);
  if (!path.ok()) return path.status();
  if (path->out.find("package:") == std::string::npos) {
    return Status(StatusCode::kNotFound, package_ + " is not installed on " + serial);
  }
  const Result<ShellOutput> own = adb_->Shell("run-as " + package_ + " sh -c :");
  if (!own.ok()) return own.status();
  if (own->status == 0) folders_ = {AppFolder::kNoBackup, AppFolder::kFiles};
  const Result<ShellOutput> external = adb_->Shell(In(AppFolder::kExternal, ":"));
  if (!external.ok()) return external.status();
  if (external->status == 0) folders_.push_back(AppFolder::kExternal);
  if (!folders_.empty()) return Status::Ok();
  return Status(StatusCode::kPermissionDenied,
                package_ + " on " + serial +
                    " does not permit adb to read its reports: it is not debuggable (" +
                    FirstLine(own->out) + "), and there is no folder /sdcard/Android/data/" +
                    package_ + "/files/jankbox");
}

Result<int> DeviceApp::Pid() const {
  // Since Android 8 plain ps reports the shell's own processes only, and before it knew no -A.
  const Result<ShellOutput> list = adb_->Shell("ps 2>/dev/null; ps -A 2>/dev/null", 4 << 20);
  if (!list.ok()) return list.status();
  std::istringstream lines(list->out);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> words = Words(line);
    if (words.size() > 2 && words.back() == process_) return atoi(words[1].c_str());
  }
  return 0;
}

Status DeviceApp::Restart() const {
  const Result<ShellOutput> started =
      adb_->Shell("am force-stop " + package_ + "; monkey -p " + package_ +
                  " -c android.intent.category.LAUNCHER 1 2>&1");
  if (!started.ok()) return started.status();
  if (started->status != 0 || started->out.find("aborted") != std::string::npos) {
    return Status(StatusCode::kUnsupported,
                  package_ + " cannot be started: it has no activity for the launcher");
  }
  const uint64_t end_ns = MonotonicNs() + kStartPatienceNs;
  while (MonotonicNs() < end_ns) {
    const Result<int> pid = Pid();
    if (!pid.ok()) return pid.status();
    if (pid.value() != 0) return Status::Ok();
    usleep(kBetweenLooksUs);
  }
  return Status(StatusCode::kUnavailable,
                process_ + " did not start on " + adb_->device().serial + " within 15 s");
}

Result<std::map<std::string, RemoteReport>> DeviceApp::Reports() const {
  return List("*.pftrace.zst", false);
}

Result<std::map<std::string, RemoteReport>> DeviceApp::SystemTraces() const {
  return List("system-*.pftrace", true);
}

Result<std::map<std::string, RemoteReport>> DeviceApp::List(const std::string& pattern,
                                                            bool system_traces) const {
  std::map<std::string, RemoteReport> reports;
  for (const AppFolder folder : folders_) {
    const Result<ShellOutput> list =
        adb_->Shell(In(folder, "for f in " + pattern +
                                   "; do [ -f \"$f\" ] && "
                                   "echo \"$f $(cksum <\"$f\" 2>/dev/null)\"; done; :"));
    if (!list.ok()) return list.status();
    if (list->status == kNoFolder) continue;
    if (list->status != 0) {
      return Status(StatusCode::kIo,
                    "the reports of " + package_ + " cannot be listed: " + FirstLine(list->out));
    }
    std::istringstream lines(list->out);
    for (std::string line; std::getline(lines, line);) {
      const std::vector<std::string> words = Words(line);
      if (words.empty()) continue;
      if (system_traces ? !IsSystemTraceName(words[0]) : !IsReportName(words[0])) continue;
      RemoteReport report{.name = words[0], .is_system_trace = system_traces, .folder = folder};
      report.known = words.size() >= 3;
      if (report.known) {
        report.crc = static_cast<uint32_t>(strtoul(words[1].c_str(), nullptr, 10));
        report.bytes = strtoull(words[2].c_str(), nullptr, 10);
      }
      reports.try_emplace(report.name, report);
    }
  }
  return reports;
}

Result<std::string> DeviceApp::Fetch(const RemoteReport& report) const {
  const Result<ShellOutput> file = adb_->Shell(
      In(report.folder, "[ -f " + report.name + " ] || exit " + std::to_string(kNoFile) + "; cat " +
                            report.name + " 2>/dev/null"),
      kMaxReportFileBytes);
  if (!file.ok()) return file.status();
  if (file->status == kNoFile || file->status == kNoFolder) {
    return Status(StatusCode::kNotFound, report.name + " is no longer on the device");
  }
  if (file->status != 0) {
    return Status(StatusCode::kIo, report.name + " cannot be read on the device");
  }
  return std::move(file.value().out);
}

std::optional<uint64_t> DeviceApp::FreeMib() const {
  if (folders_.empty()) return std::nullopt;
  const Result<ShellOutput> told =
      adb_->Shell(folders_[0] != AppFolder::kExternal ? "run-as " + package_ + " df -k ."
                                                      : "df -k " + ExternalStorage());
  if (!told.ok()) return std::nullopt;
  std::istringstream lines(told->out);
  std::string title;
  std::string row;
  if (!std::getline(lines, title) || !std::getline(lines, row)) return std::nullopt;
  const std::vector<std::string> titles = Words(title);
  const std::vector<std::string> values = Words(row);
  const auto column = std::find(titles.begin(), titles.end(), "Available");
  const size_t index = static_cast<size_t>(column - titles.begin());
  if (column == titles.end() || index >= values.size()) return std::nullopt;
  char* end = nullptr;
  const uint64_t kib = strtoull(values[index].c_str(), &end, 10);
  return *end == '\0' ? std::optional<uint64_t>(kib >> 10) : std::nullopt;
}

}  // namespace jankbox::tools
