// The kernel's trace_marker, as atrace uses it, in a separate tracefs instance: nothing of the
// system's own tracing is touched, and the instance is removed again.
#ifndef JANKBOX_BENCH_HARNESS_TRACE_MARKER_H_
#define JANKBOX_BENCH_HARNESS_TRACE_MARKER_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/scoped_fd.h"

namespace jankbox::bench {

class TraceMarker {
 public:
  // Throws std::runtime_error, with the reason, if tracefs is not there or may not be written.
  TraceMarker();
  ~TraceMarker();
  TraceMarker(const TraceMarker&) = delete;
  TraceMarker& operator=(const TraceMarker&) = delete;

  using Write = ssize_t(int, const void*, size_t);

  // "B|pid|name" and "E|pid", both made beforehand, through the C library's own write() whatever is
  // hooked …
  void Pairs(uint32_t passes) { PairsThrough(bare_write(), passes); }
  // … and through `write`.
  void PairsThrough(Write* write, uint32_t passes);
  static Write* bare_write();

  // Whether the kernel's buffer contains `text` now.
  bool Holds(const std::string& text) const;

  int fd() const { return marker_.get(); }

 private:
  std::string folder_;
  ScopedFd marker_;
  std::string begin_;
  std::string end_;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_HARNESS_TRACE_MARKER_H_
