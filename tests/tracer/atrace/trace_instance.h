// A tracefs instance of a test's own: a kernel trace buffer apart from the system's, removed again
// with the object. Needs root.
#ifndef JANKBOX_TESTS_TRACER_ATRACE_TRACE_INSTANCE_H_
#define JANKBOX_TESTS_TRACER_ATRACE_TRACE_INSTANCE_H_

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace jankbox {

class TraceInstance {
 public:
  TraceInstance()
      : path_("/sys/kernel/tracing/instances/jankbox_test_" + std::to_string(getpid())) {
    if (mkdir(path_.c_str(), 0700) != 0) why_not_ = path_ + ": " + strerror(errno);
  }
  ~TraceInstance() {
    if (why_not_.empty()) rmdir(path_.c_str());
  }
  TraceInstance(const TraceInstance&) = delete;
  TraceInstance& operator=(const TraceInstance&) = delete;

  // Not empty: there is none, and why.
  const std::string& why_not() const { return why_not_; }

  // A descriptor for writing markers; the caller closes it before the object goes.
  int OpenMarker() const { return open((path_ + "/trace_marker").c_str(), O_WRONLY | O_CLOEXEC); }

  // The text of each marker so far, oldest first, as the kernel shows it.
  std::vector<std::string> Markers() const {
    std::vector<std::string> markers;
    std::ifstream trace(path_ + "/trace");
    const std::string before = "tracing_mark_write: ";
    for (std::string line; std::getline(trace, line);) {
      const size_t at = line.find(before);
      if (at != std::string::npos) markers.push_back(line.substr(at + before.size()));
    }
    return markers;
  }

 private:
  const std::string path_;
  std::string why_not_;
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_TRACER_ATRACE_TRACE_INSTANCE_H_
