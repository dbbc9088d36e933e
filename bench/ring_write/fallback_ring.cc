#include "bench/ring_write/fallback_ring.h"

#include <stdexcept>

#include "bench/harness/opaque.h"
#include "tracer/event/event_sink.h"
#include "tracer/ring/recorder.h"

namespace jankbox::bench {
namespace {

constexpr uint32_t kMethod = 7;

}  // namespace

FallbackRing::FallbackRing() {
  RingOptions options;
  options.tick_source = TickSource::kClockGettime;
  Result<std::unique_ptr<RingFile>> ring = RingFile::Create(options);
  if (!ring.ok()) throw std::runtime_error(ring.status().message());
  ring_ = std::move(ring.value());
  if (!ring_->Grow().ok() || !Recorder::Open(ring_.get()).ok()) {
    throw std::runtime_error("the recorder does not start");
  }
}

FallbackRing::~FallbackRing() { Recorder::Close(); }

JANKBOX_BENCH_KERNEL void FallbackPairs(uint32_t passes) {
  for (uint32_t i = 0; i < passes; ++i) {
    RecordEvent(EventKind::kBegin, kMethod);
    UnknownCode();
    RecordEvent(EventKind::kEnd, kMethod);
    UnknownCode();
  }
}

}  // namespace jankbox::bench
