#include <sys/stat.h>

#include <cerrno>

#include "base/file.h"
#include "tracer/ring/ring_place.h"

namespace jankbox {

// An app has no tmpfs of its own that outlives it: the ring is a private file beside the reports.
Result<std::string> RingFolder(const std::string& spool_dir) {
  const std::string folder = JoinPath(spool_dir, ".rings");
  Status status = MakeDirectories(folder, 0700);
  if (!status.ok()) return status;
  return folder;
}

ScopedFd OpenNamelessRing() { return ScopedFd(); }

std::vector<std::string> RingFolders() { return {}; }

}  // namespace jankbox
