#include "tools/run/folder_watch.h"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/clock.h"
#include "base/file.h"
#include "report/report_file.h"

namespace jankbox::tools {
namespace {

bool IsReportName(std::string_view name) {
  const std::string_view suffix = kReportFileSuffix;
  return !name.empty() && name[0] != '.' && name.size() > suffix.size() &&
         name.substr(name.size() - suffix.size()) == suffix;
}

}  // namespace

FolderWatch::FolderWatch(const std::string& directory)
    : fd_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      directory_(directory),
      started_ns_(RealtimeNs()) {
  const uint32_t events = IN_MOVED_TO | IN_ONLYDIR;
  if (fd_.valid() && inotify_add_watch(fd_.get(), directory.c_str(), events) < 0) fd_.Reset();
}

std::vector<std::string> FolderWatch::NewReports() {
  if (!fd_.valid()) return ReportsSinceStart();
  std::vector<std::string> paths;
  alignas(inotify_event) char events[16384];
  for (;;) {
    const ssize_t n = read(fd_.get(), events, sizeof(events));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return paths;
    for (ssize_t at = 0; at < n;) {
      const auto* event = reinterpret_cast<const inotify_event*>(events + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      if ((event->mask & IN_Q_OVERFLOW) != 0) {
        for (std::string& path : ReportsSinceStart()) paths.push_back(std::move(path));
      } else if (event->len > 0 && IsReportName(event->name)) {
        paths.push_back(JoinPath(directory_, event->name));
      }
    }
  }
}

std::vector<std::string> FolderWatch::ReportsSinceStart() const {
  std::vector<std::string> paths;
  const Result<std::vector<std::string>> names = ListDirectory(directory_);
  if (!names.ok()) return paths;
  for (const std::string& name : names.value()) {
    std::string path = JoinPath(directory_, name);
    struct stat st {};
    if (!IsReportName(name) || lstat(path.c_str(), &st) != 0) continue;
    const uint64_t changed_ns = static_cast<uint64_t>(st.st_ctim.tv_sec) * kNsPerSecond +
                                static_cast<uint64_t>(st.st_ctim.tv_nsec);
    if (changed_ns >= started_ns_) paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace jankbox::tools
