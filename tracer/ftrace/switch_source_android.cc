#include "tracer/ftrace/switch_source.h"

namespace jankbox {

Result<std::unique_ptr<SwitchSource>> SwitchSource::Open(int32_t) {
  return Status(StatusCode::kUnsupported, "perf_event_open is not offered to apps on Android");
}

}  // namespace jankbox
