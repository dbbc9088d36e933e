#include "sdk/runtime/overhead.h"

#include "base/clock.h"
#include "tracer/event/event_sink.h"
#include "tracer/ring/record_modes.h"
#include "tracer/ring/recorder.h"

namespace jankbox {
namespace {

constexpr uint64_t kWordsPerChunk = (kChunkBytes - sizeof(RingChunk)) / sizeof(uint64_t);
// Beside reading the clock, as docs/performance.md has it.
constexpr double kWriteNs = 1.5;
constexpr int kClockReads = 2000;

}  // namespace

Overhead::Overhead(RingFile* ring, uint32_t budget_permille, std::optional<RecordMode> fixed)
    : ring_(ring), fixed_(fixed), governor_(budget_permille) {}

void Overhead::Begin(double ns_per_tick) {
  const uint64_t before = NowTicks();
  for (int i = 0; i < kClockReads; ++i) NowTicks();
  exact_event_ns_ = static_cast<double>(NowTicks() - before) * ns_per_tick / kClockReads + kWriteNs;
  if (fixed_.has_value()) {
    SetMode(*fixed_, RecordModeReason::kOption);
  } else {
    NoteRecordMode(ring_, mode_, RecordModeReason::kStart, ring_->header()->clock_at_start.ticks);
  }
}

// Chunks that were handed out, as words: what was written, to about a chunk a thread.
uint64_t Overhead::ClaimedWords() const {
  return ring_->header()->next_sequence.load(std::memory_order_relaxed) * kWordsPerChunk;
}

void Overhead::Look(uint64_t now_ns, uint64_t own_cpu_ns) {
  const uint64_t words = ClaimedWords();
  const auto written = static_cast<double>(words - last_words_);
  const double event_ns = mode_ == RecordMode::kCoarse ? 2 * kWriteNs : exact_event_ns_;
  last_words_ = words;
  recorded_ns_.fetch_add(static_cast<uint64_t>(written * event_ns), std::memory_order_relaxed);
  exact_ns_ += static_cast<uint64_t>(written * exact_event_ns_);
  tick_cpu_ns_.store(coarse_clock_.cpu_ns(), std::memory_order_relaxed);
  const RecordMode before = governor_.mode();
  const RecordMode now = governor_.Look({.now_ns = now_ns,
                                         .own_cpu_ns = own_cpu_ns,
                                         .tick_cpu_ns = tick_cpu_ns(),
                                         .recorded_ns = recorded_ns(),
                                         .exact_ns = exact_ns_});
  if (now == before || fixed_.has_value()) return;
  SetMode(now, now > before ? RecordModeReason::kOverBudget : RecordModeReason::kWithinBudget);
}

void Overhead::SetMode(RecordMode mode, RecordModeReason reason) {
  if (mode == RecordMode::kCoarse && !coarse_clock_.Start()) return;  // it stays exact
  Recorder::SetMode(mode);
  if (mode != RecordMode::kCoarse) coarse_clock_.Stop();
  NoteRecordMode(ring_, mode, reason, NowTicks());
  mode_ = mode;
}

void Overhead::End() { coarse_clock_.Stop(); }

}  // namespace jankbox
