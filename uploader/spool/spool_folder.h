// Lists the contents of a spool folder by names and lstat: it opens nothing and follows no link.
// Only regular files with Jankbox's names belong to Jankbox; everything else is ignored and never
// touched. Threads: any but the app's own; allocates.
#ifndef JANKBOX_UPLOADER_SPOOL_SPOOL_FOLDER_H_
#define JANKBOX_UPLOADER_SPOOL_SPOOL_FOLDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace jankbox {

// Distinguishes one revision of a report from the next of the same name.
struct FileIdentity {
  uint64_t inode = 0;
  uint64_t mtime_ns = 0;  // realtime
  uint64_t size_bytes = 0;

  bool operator==(const FileIdentity&) const = default;
};

struct FoundReport {
  std::string id;
  FileIdentity file;
};

struct SpoolFolder {
  std::vector<FoundReport> reports;  // by name
  // Reports being written by any process; each file is as long as its writer's reservation.
  uint64_t in_flight_count = 0;
  uint64_t in_flight_bytes = 0;
  std::vector<FoundReport> quarantined;  // <id>.bad
  uint64_t quarantined_bytes = 0;
};

// Suffix of a report that is kept for inspection but never sent.
inline constexpr char kQuarantineSuffix[] = ".bad";

// The counts of incidents (uploader/counts): as of the last write that survives a power cut, and
// later ones.
inline constexpr char kCountsName[] = ".counts";
inline constexpr char kRecentCountsName[] = ".counts.new";
inline constexpr char kCountsLockName[] = ".counts.lock";

Result<SpoolFolder> ScanSpoolFolder(const std::string& directory);

// False if `path` is no regular file.
bool IdentifyFile(const std::string& path, FileIdentity* file);

std::string ReportPath(const std::string& directory, const std::string& id);
std::string QuarantinePath(const std::string& directory, const std::string& id);

// Bytes that this user may still write on the file system of `directory`.
uint64_t FreeBytes(const std::string& directory);

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_SPOOL_SPOOL_FOLDER_H_
