#include "tracer/sampling/perf_source.h"

namespace jankbox {

Result<std::unique_ptr<PerfSource>> PerfSource::Open(int, uint64_t) {
  return Status(StatusCode::kUnsupported, "perf_event_open is not offered to apps on Android");
}

}  // namespace jankbox
