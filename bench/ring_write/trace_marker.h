// The kernel's trace_marker, as atrace uses it, in a tracefs instance of our own: nothing of the
// system's own tracing is touched, and the instance is removed again.
#ifndef JANKBOX_BENCH_RING_WRITE_TRACE_MARKER_H_
#define JANKBOX_BENCH_RING_WRITE_TRACE_MARKER_H_

#include <cstdint>
#include <string>

#include "base/scoped_fd.h"

namespace jankbox::bench {

class TraceMarker {
 public:
  // Throws std::runtime_error, with the reason, where tracefs is not there or may not be written.
  TraceMarker();
  ~TraceMarker();
  TraceMarker(const TraceMarker&) = delete;
  TraceMarker& operator=(const TraceMarker&) = delete;

  // "B|pid|name" and "E|pid", both made beforehand.
  void Pairs(uint32_t passes);

 private:
  std::string folder_;
  ScopedFd marker_;
  std::string begin_;
  std::string end_;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_RING_WRITE_TRACE_MARKER_H_
