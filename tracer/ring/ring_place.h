// The folder of the rings of a spool folder: a private folder on a tmpfs (XDG_RUNTIME_DIR, else
// /dev/shm) on Linux, beside the reports on Android (decision 2). Both the recorder and recovery
// compute it only from the spool folder. Cold; no thread rules. Creates the folder (0700) and
// rejects one of another user.
#ifndef JANKBOX_TRACER_RING_RING_PLACE_H_
#define JANKBOX_TRACER_RING_RING_PLACE_H_

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/scoped_fd.h"
#include "base/status.h"

namespace jankbox {

// The folder for rings of `spool_dir` (absolute, need not exist yet). Two spellings of the same
// path agree.
Result<std::string> RingFolder(const std::string& spool_dir);

// A new file without a name on the tmpfs of RingFolder(), for RingFile::Name(): with few system
// calls, for the thread that starts. Invalid where there can be none: never on Android, whose apps
// may not name it afterwards.
ScopedFd OpenNamelessRing();

// The folders of all rings of this user, whatever their spool folder; none on Android, where a ring
// is beside its reports.
std::vector<std::string> RingFolders();

inline constexpr char kRingFileSuffix[] = ".jbxring";

// "ring-<pid>-<start time>.jbxring"
inline std::string RingFileName(int pid, uint64_t process_start_ticks) {
  return "ring-" + std::to_string(pid) + "-" + std::to_string(process_start_ticks) +
         kRingFileSuffix;
}
// Its process and that one's start time; nullopt if it is no such name.
inline std::optional<std::pair<int, uint64_t>> OwnerOfRingFile(const std::string& name) {
  int pid = 0;
  uint64_t start_ticks = 0;
  if (sscanf(name.c_str(), "ring-%d-%" SCNu64, &pid, &start_ticks) != 2) return std::nullopt;
  return std::pair(pid, start_ticks);
}

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_RING_PLACE_H_
