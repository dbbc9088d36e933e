#include "tracer/sampling/perf_source.h"

namespace jankbox {

Result<std::unique_ptr<PerfSource>> PerfSource::Open(int) {
  return Status(StatusCode::kUnsupported, "Android does not permit apps to use perf_event_open");
}

}  // namespace jankbox
