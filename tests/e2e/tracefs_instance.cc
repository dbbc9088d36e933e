#include "tests/e2e/tracefs_instance.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace jankbox {

TracefsInstance::TracefsInstance() {
  static int number = 0;
  folder_ = "/sys/kernel/tracing/instances/jankbox-test-" + std::to_string(getpid()) + "-" +
            std::to_string(++number);
  if (mkdir(folder_.c_str(), 0700) != 0) missing_ = folder_ + ": " + strerror(errno);
}

TracefsInstance::~TracefsInstance() {
  if (missing_.empty()) rmdir(folder_.c_str());
}

bool TracefsInstance::Write(const std::string& file, const std::string& text) const {
  const int fd = open(Path(file).c_str(), O_WRONLY | O_CLOEXEC);
  const bool written =
      fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (fd >= 0) close(fd);
  return written;
}

std::string TracefsInstance::Trace() const {
  std::ifstream file(Path("trace"));
  if (!file) return Path("trace") + ": " + strerror(errno);
  std::string text;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind('#', 0) != 0) text += line + "\n";
  }
  return text;
}

}  // namespace jankbox
