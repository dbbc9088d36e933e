#include "tracer/ring/ring_end_note.h"

namespace jankbox {
namespace {

// Read-only for everyone but tracer/ring.
RingHeader* Writable(const RingHeader* ring) { return const_cast<RingHeader*>(ring); }

void Change(const RingHeader* ring, RingEnd from, RingEnd to) {
  auto expected = static_cast<uint32_t>(from);
  Writable(ring)->closed.compare_exchange_strong(
      expected, static_cast<uint32_t>(to), std::memory_order_release, std::memory_order_relaxed);
}

}  // namespace

void RingEndNote::Exits(const RingHeader* ring) { Change(ring, RingEnd::kNone, RingEnd::kExited); }

void RingEndNote::Stays(const RingHeader* ring) { Change(ring, RingEnd::kExited, RingEnd::kNone); }

void RingEndNote::BeginCall(const RingHeader* ring, RingEndCall call, int signal,
                            uint64_t now_ticks) {
  RingHeader* const header = Writable(ring);
  header->end_signal.store(static_cast<uint32_t>(signal), std::memory_order_relaxed);
  header->end_call_ticks.store(now_ticks, std::memory_order_relaxed);
  header->end_call.store(static_cast<uint32_t>(call), std::memory_order_release);
}

void RingEndNote::EndCall(const RingHeader* ring) {
  Writable(ring)->end_call.store(static_cast<uint32_t>(RingEndCall::kNone),
                                 std::memory_order_release);
}

}  // namespace jankbox
