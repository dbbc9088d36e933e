// Everything that may happen to a ring at once, for the thread sanitizer; other builds check what
// comes out.
#include <thread>

#include "tests/emulator.h"
#include "tests/tracer/ring/inline_events.h"
#include "tests/tracer/ring/numbered_records.h"
#include "tests/tracer/ring/test_ring.h"
#include "tracer/ring/record_modes.h"
#include "tracer/ring/ring_checksums.h"

namespace jankbox {
namespace {

class RingRaceTest : public RingTest {
 protected:
  static constexpr uint32_t kWriters = 8;

  void StartWriters() {
    for (uint32_t w = 0; w < kWriters; ++w) {
      threads_.emplace_back([this, w] {
        if (w < 2) WatchThisThread();
        while (!stop_.load(std::memory_order_relaxed)) {
          NumberedRecords::Write(w, written_[w]++);
        }
      });
    }
  }
  // Until all of them have written something. Before Repeat(), whose threads may write too.
  void AwaitWriters() {
    const uint64_t give_up_ns = MonotonicNs() + 20 * kNsPerSecond;
    while (ring_->header()->next_thread_serial.load() <= kWriters && MonotonicNs() < give_up_ns) {
      std::this_thread::yield();
    }
  }
  // Runs `work` over and over on a thread of its own.
  template <typename Work>
  void Repeat(Work work) {
    threads_.emplace_back([this, work] {
      while (!stop_.load(std::memory_order_relaxed)) {
        work();
        std::this_thread::yield();
      }
    });
  }
  void StopAll() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  std::atomic<bool> stop_{false};
  uint64_t written_[kWriters] = {};
  std::vector<std::thread> threads_;
};

TEST_F(RingRaceTest, EverythingAtOnceInOneMode) {
  OpenRing(2 << 20);
  StartWriters();
  AwaitWriters();
  Repeat([this] { ChecksumClosedChunks(ring_.get(), NowTicks()); });
  Repeat([this] { Recorder::ReclaimDeadThreads(ring_.get()); });
  Repeat([] { std::thread([] { RecordEvent(EventKind::kInstant, 1); }).join(); });
  uint64_t decoded = 0;
  for (int copies = 0; copies < ByMachine(60, 3); ++copies) {
    const RingWindow window = Window();
    for (const WindowThread& thread : window.threads) {
      if (thread.chunks[0].words.size() == 0 ||
          KindOf(thread.chunks[0].words[0]) == EventKind::kInstant) {
        continue;  // one of those that come and go
      }
      NumbersFound found;
      ASSERT_NO_FATAL_FAILURE(CheckNumbers(thread, &found));
      decoded += found.decoded;
    }
  }
  StopAll();
  EXPECT_GT(decoded, 10'000u);
  EXPECT_EQ(Window().dropped_events, 0u);
}

TEST_F(RingRaceTest, ModesChangeUnderWriters) {
  OpenRing(2 << 20);
  StartWriters();
  AwaitWriters();
  Repeat([this] { ChecksumClosedChunks(ring_.get(), NowTicks()); });
  Repeat([] { Recorder::RenewCoarseTick(); });
  for (uint32_t change = 0; change < ByMachine(200u, 8u); ++change) {
    const auto mode = static_cast<RecordMode>(change % 4);
    Recorder::SetMode(mode);
    NoteRecordMode(ring_.get(), mode, RecordModeReason::kOption, NowTicks());
    const RingWindow window = Window();
    for (const WindowThread& thread : window.threads) {
      for (const WindowChunk& chunk : thread.chunks) {
        EventCursor cursor(chunk);
        EventRecord record;
        while (cursor.Next(&record)) ASSERT_LT(record.id >> 20, kWriters);
        ASSERT_FALSE(cursor.torn());
      }
    }
    ASSERT_LE(RecordModesBetween(*ring_->header(), 0, UINT64_MAX).size(), kMaxRingModes);
  }
  StopAll();
  EXPECT_EQ(Window().dropped_events, 0u);
}

}  // namespace
}  // namespace jankbox
