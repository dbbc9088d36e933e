// Reports that appear in a folder, as they are sealed (inotify: renamed into it). For `run`.
// Threads: one; never waits.
#ifndef JANKBOX_TOOLS_JANKBOX_FOLDER_WATCH_H_
#define JANKBOX_TOOLS_JANKBOX_FOLDER_WATCH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/scoped_fd.h"
#include "base/status.h"

namespace jankbox::tools {

class FolderWatch {
 public:
  // Sees what appears from now on.
  static Result<std::unique_ptr<FolderWatch>> Open(const std::string& directory);

  int fd() const { return fd_.get(); }

  // Paths of the reports that appeared since the last call, in their order. After a flood that the
  // kernel did not keep, all since Open(): callers know which they have seen.
  std::vector<std::string> NewReports();

 private:
  FolderWatch(ScopedFd fd, std::string directory)
      : fd_(std::move(fd)), directory_(std::move(directory)), opened_ns_(RealtimeNs()) {}
  std::vector<std::string> ReportsSinceOpen() const;

  ScopedFd fd_;
  std::string directory_;
  uint64_t opened_ns_;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_JANKBOX_FOLDER_WATCH_H_
