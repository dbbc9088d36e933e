#include "tracer/ftrace/switch_source.h"

namespace jankbox {

Result<std::unique_ptr<SwitchSource>> SwitchSource::Open(int32_t) {
  return Status(StatusCode::kUnsupported, "Android does not permit apps to use perf_event_open");
}

}  // namespace jankbox
