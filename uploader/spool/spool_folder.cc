#include "uploader/spool/spool_folder.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/sealed_file.h"
#include "base/uuid.h"
#include "report/report.h"

namespace jankbox {
namespace {

// A sparse file may claim any length; beyond this all are alike, and sums cannot overflow.
constexpr uint64_t kMaxCountedBytes = uint64_t{1} << 40;

// The id in "<id><suffix>", or nothing.
std::string_view IdIn(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return {};
  name.remove_suffix(suffix.size());
  return IsUuid(name) ? name : std::string_view();
}

}  // namespace

bool IdentifyFile(const std::string& path, FileIdentity* file) {
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return false;
  file->inode = st.st_ino;
  file->size_bytes = std::min(static_cast<uint64_t>(st.st_size), kMaxCountedBytes);
  // Before 1970 counts as 1970.
  file->mtime_ns = st.st_mtim.tv_sec < 0 ? 0
                                         : static_cast<uint64_t>(st.st_mtim.tv_sec) * kNsPerSecond +
                                               static_cast<uint64_t>(st.st_mtim.tv_nsec);
  return true;
}

Result<SpoolFolder> ScanSpoolFolder(const std::string& directory) {
  Result<std::vector<std::string>> names = ListDirectory(directory);
  if (!names.ok()) return names.status();
  SpoolFolder folder;
  for (const std::string& name : names.value()) {
    const bool temporary =
        name.starts_with(SealedFile::kTemporaryPrefix) && name.ends_with(kReportFileSuffix);
    const std::string_view report_id = IdIn(name, kReportFileSuffix);
    const std::string_view quarantined_id = IdIn(name, kQuarantineSuffix);
    if (!temporary && report_id.empty() && quarantined_id.empty()) continue;
    FileIdentity file;
    if (!IdentifyFile(JoinPath(directory, name), &file)) continue;
    if (temporary) {
      ++folder.in_flight_count;
      folder.in_flight_bytes += file.size_bytes;
    } else if (!report_id.empty()) {
      folder.reports.push_back({std::string(report_id), file});
    } else {
      folder.quarantined.push_back({std::string(quarantined_id), file});
      folder.quarantined_bytes += file.size_bytes;
    }
  }
  return folder;
}

std::string ReportPath(const std::string& directory, const std::string& id) {
  return JoinPath(directory, id + kReportFileSuffix);
}

std::string QuarantinePath(const std::string& directory, const std::string& id) {
  return JoinPath(directory, id + kQuarantineSuffix);
}

uint64_t FreeBytes(const std::string& directory) {
  struct statvfs st {};
  if (statvfs(directory.c_str(), &st) != 0) return 0;
  return static_cast<uint64_t>(st.f_bavail) * st.f_frsize;
}

}  // namespace jankbox
