#include "bench/harness/trace_marker.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/file.h"
#include "bench/harness/opaque.h"

namespace jankbox::bench {
namespace {

std::string InstancesFolder() {
  std::string reason = "no tracefs is mounted";
  for (const char* root : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    const std::string instances = std::string(root) + "/instances";
    if (access(instances.c_str(), W_OK) == 0) return instances;
    if (errno != ENOENT) reason = instances + ": " + strerror(errno);
  }
  throw std::runtime_error(reason);
}

}  // namespace

TraceMarker::TraceMarker()
    : begin_("B|" + std::to_string(getpid()) + "|bench::Pair"),
      end_("E|" + std::to_string(getpid())) {
  const std::string folder = InstancesFolder() + "/jankbox-bench-" + std::to_string(getpid());
  if (mkdir(folder.c_str(), 0700) != 0) throw std::runtime_error(folder + ": " + strerror(errno));
  folder_ = folder;
  ScopedFd size(open((folder + "/buffer_size_kb").c_str(), O_WRONLY | O_CLOEXEC));
  const bool sized = size.valid() && WriteFully(size.get(), "8192").ok();
  size.Reset();
  marker_.Reset(open((folder + "/trace_marker").c_str(), O_WRONLY | O_CLOEXEC));
  if (!sized || !marker_.valid() || write(marker_.get(), end_.data(), end_.size()) < 0) {
    const std::string reason = folder + "/trace_marker: " + strerror(errno);
    marker_.Reset();
    rmdir(folder.c_str());
    throw std::runtime_error(reason);
  }
}

TraceMarker::~TraceMarker() {
  marker_.Reset();
  rmdir(folder_.c_str());
}

JANKBOX_BENCH_KERNEL void TraceMarker::PairsThrough(Write* write, uint32_t passes) {
  for (uint32_t i = 0; i < passes; ++i) {
    Use(static_cast<uint64_t>(write(marker_.get(), begin_.data(), begin_.size())));
    UnknownCode();
    Use(static_cast<uint64_t>(write(marker_.get(), end_.data(), end_.size())));
    UnknownCode();
  }
}

TraceMarker::Write* TraceMarker::bare_write() {
  // The loader's answer, which import tables that were changed do not touch.
  static auto* write = reinterpret_cast<Write*>(dlsym(RTLD_NEXT, "write"));
  return write;
}

bool TraceMarker::Holds(const std::string& text) const {
  std::ifstream file(folder_ + "/trace");
  std::stringstream trace;
  trace << file.rdbuf();
  return trace.str().find(text) != std::string::npos;
}

}  // namespace jankbox::bench
