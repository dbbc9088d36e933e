// Workers that flood the ring do not take the UI thread's last seconds.
#include <time.h>

#include <functional>
#include <latch>
#include <thread>
#include <vector>

#include "tests/emulator.h"
#include "tests/tracer/ring/numbered_records.h"
#include "tests/tracer/ring/test_ring.h"

namespace jankbox {
namespace {

using FloodTest = RingTest;

TEST_F(FloodTest, EightWorkersLeaveTheUiThreadItsWindow) {
  const bool soak = getenv("JANKBOX_SOAK") != nullptr;
  const uint64_t window_ns = soak ? 10 * kNsPerSecond : kNsPerSecond;
  OpenRing(soak ? 8 << 20 : 1 << 20);  // the default of 10 s, and about a tenth of it
  std::atomic<bool> stop{false};
  std::vector<std::thread> workers;
  for (uint32_t w = 1; w <= 8; ++w) {
    workers.emplace_back([&stop, w] {
      for (uint64_t n = 0; !stop.load(std::memory_order_relaxed); ++n) NumberedRecords::Write(w, n);
    });
  }
  // 10,000 records, or 27,500 words, a second for half as long again as the window.
  const uint64_t begin_ns = MonotonicNs();
  const timespec pause = {0, 1'000'000};
  uint64_t n = 0;
  int tid = 0;
  std::thread([&] {
    WatchThisThread();
    tid = CurrentTid();
    while (MonotonicNs() - begin_ns < window_ns * 3 / 2) {
      for (int i = 0; i < 10; ++i) NumberedRecords::Write(0, n++);
      nanosleep(&pause, nullptr);
    }
  }).join();
  stop = true;
  for (std::thread& worker : workers) worker.join();
  const RingWindow window = Window();
  for (const WindowThread& thread : window.threads) {
    if (thread.tid != tid) continue;
    NumbersFound found;
    ASSERT_NO_FATAL_FAILURE(CheckNumbers(thread, &found));
    EXPECT_EQ(found.next, n);
    EXPECT_EQ(thread.words_missing, 0u);
    EXPECT_LT(found.overwritten, n / 3) << "less than the window is left";
  }
  EXPECT_GT(ring_->header()->next_chunk[0].load(),
            ByMachine(10u, 1u) * ring_->header()->chunk_count)
      << "the workers did not flood";
  EXPECT_EQ(window.dropped_events, 0u);
}

TEST_F(FloodTest, AWorkerGetsWhatTheWatchedThreadsHaveNotNeeded) {
  OpenRing(1 << 20);
  const auto fill = [] {
    for (uint32_t i = 0; i < 300'000; ++i) RecordEvent(EventKind::kInstant, 1);  // laps the ring
  };
  const auto watch_and = [](const std::function<void()>& record) {
    std::thread([&record] {
      WatchThisThread();
      record();
    }).join();
  };
  const auto chunks_of_watched = [this](uint32_t watched) {  // that have calls of such threads
    int chunks = 0;
    for (uint32_t i = 0; i < ring_->header()->chunks_ready.load(); i += 2) {
      const RingChunk& chunk = *ring_->chunk(i);
      if (chunk.sequence.load() != 0 && chunk.watched == watched) ++chunks;
    }
    return chunks;
  };
  const int all = static_cast<int>(ring_->header()->chunks_ready.load() / 2);
  watch_and([] { RecordEvent(EventKind::kInstant, 1); });
  fill();
  EXPECT_EQ(chunks_of_watched(0), all - all / 2) << "half of them are never lent in a small ring";
  EXPECT_EQ(chunks_of_watched(1), 1) << "a worker took what a watched thread had";
  watch_and(fill);
  fill();
  EXPECT_LE(chunks_of_watched(0), 1) << "but for the one that the worker had open";
}

// Each keeps the chunk that it has open.
TEST_F(FloodTest, IdleWorkersLeaveTheWatchedThreadItsChunks) {
  OpenRing(1 << 20);
  std::vector<std::thread> workers;
  std::latch recorded(100);
  std::latch done(1);
  for (int i = 0; i < 100; ++i) {
    workers.emplace_back([&recorded, &done] {
      RecordEvent(EventKind::kInstant, 1);
      recorded.count_down();
      done.wait();
    });
  }
  recorded.wait();
  std::thread([this] {
    WatchThisThread();
    constexpr uint32_t kEvents = 10'000;
    for (uint32_t i = 0; i < kEvents; ++i) RecordEvent(EventKind::kInstant, 2);
    EXPECT_EQ(Events(Window(), CurrentTid()).size(), kEvents);
  }).join();
  done.count_down();
  for (std::thread& worker : workers) worker.join();
}

}  // namespace
}  // namespace jankbox
