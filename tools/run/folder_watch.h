// Reports that appear in a folder, as they are sealed (inotify: renamed into it). For `run`.
// Threads: one; never waits.
#ifndef JANKBOX_TOOLS_RUN_FOLDER_WATCH_H_
#define JANKBOX_TOOLS_RUN_FOLDER_WATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/scoped_fd.h"

namespace jankbox::tools {

class FolderWatch {
 public:
  // Sees what appears from now on.
  explicit FolderWatch(const std::string& directory);

  // Readable when something appeared; -1 if the kernel gave no watch (its limits are per user):
  // then NewReports() looks itself.
  int fd() const { return fd_.get(); }

  // Paths of the reports that appeared since the last call, in their order. Without a watch, or
  // after a flood that it did not keep, all since the beginning: callers know which they have seen.
  std::vector<std::string> NewReports();

 private:
  std::vector<std::string> ReportsSinceStart() const;

  ScopedFd fd_;
  std::string directory_;
  uint64_t started_ns_;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_FOLDER_WATCH_H_
