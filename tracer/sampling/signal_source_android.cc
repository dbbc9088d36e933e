#include "tracer/sampling/signal_source.h"

namespace jankbox {

Result<std::unique_ptr<SignalSource>> SignalSource::Create(int) {
  return Status(StatusCode::kUnsupported, "sampling by signal is not supported on Android");
}

}  // namespace jankbox
