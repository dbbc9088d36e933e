// Recording while a thread ends, before and after our own destructor, and across a stop and start.
#include <pthread.h>

#include <thread>

#include "tests/tracer/ring/numbered_records.h"
#include "tests/tracer/ring/test_ring.h"

namespace jankbox {
namespace {

using ThreadExitTest = RingTest;

std::atomic<int> g_destructors{0};
pthread_key_t g_later_key;

// Made after the recorder's key, so that in each of the four rounds it runs after ours.
void RecordInDestructor(void* rounds_left) {
  RecordEvent(EventKind::kInstant, 100);
  ++g_destructors;
  const auto left = reinterpret_cast<uintptr_t>(rounds_left);
  if (left > 1) pthread_setspecific(g_later_key, reinterpret_cast<void*>(left - 1));
}

struct RecordsAtExit {
  ~RecordsAtExit() {
    RecordEvent(EventKind::kInstant, 100);
    ++g_destructors;
  }
  int touched = 0;
};
thread_local RecordsAtExit t_at_exit;

TEST_F(ThreadExitTest, DestructorsOfAnyOrderRecord) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer has taken leave of a thread before its last destructors";
#endif
  OpenRing(1 << 20);
  ASSERT_EQ(pthread_key_create(&g_later_key, RecordInDestructor), 0);
  g_destructors = 0;
  for (int i = 0; i < 200; ++i) {
    std::thread([i] {
      t_at_exit.touched = 1;
      pthread_setspecific(g_later_key, reinterpret_cast<void*>(uintptr_t{4}));
      if (i % 2 == 0) RecordEvent(EventKind::kInstant, 100);  // others record only in the end
    }).join();
    Recorder::ReclaimDeadThreads(ring_.get());  // as the watcher does
  }
  pthread_key_delete(g_later_key);
  EXPECT_EQ(g_destructors, 200 * 5);
  const RingWindow window = Window();
  EXPECT_EQ(window.dropped_events, 0u);
  for (const WindowThread& thread : window.threads) {
    EXPECT_EQ(thread.words_missing, 0u);
    for (const WindowChunk& chunk : thread.chunks) {
      for (uint64_t word : chunk.words) ASSERT_EQ(IdOf(word), 100u);
    }
  }
  // Those of the last round have no destructor of ours after them: the watcher frees them.
  while (CursorsTaken() > 0) Recorder::ReclaimDeadThreads(ring_.get());
}

TEST_F(ThreadExitTest, AfterStopAndStartNoEventGoesIntoTheOldRing) {
  constexpr uint32_t kWriters = 4;
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> written[kWriters] = {};
  std::vector<std::thread> writers;
  OpenRing(1 << 20);
  for (uint32_t w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      if (w == 0) WatchThisThread();
      while (!stop.load(std::memory_order_relaxed)) {
        // Slow and fast ways alike.
        NumberedRecords::Write(w, written[w].load(std::memory_order_relaxed));
        written[w].fetch_add(1, std::memory_order_release);
      }
    });
  }
  const auto await_each = [&written](uint64_t more) {
    for (std::atomic<uint64_t>& count : written) {
      const uint64_t until = count.load() + more;
      while (count.load(std::memory_order_acquire) < until) std::this_thread::yield();
    }
  };
  std::vector<std::unique_ptr<RingFile>> old_rings;
  for (int round = 0; round < 12; ++round) {
    await_each(500);
    Recorder::Close();
    if (round % 2 == 0) await_each(2);  // else the next ring is there before they notice
    unlink(ring_->path().c_str());
    old_rings.push_back(std::move(ring_));
    OpenRing(1 << 20);
    await_each(2);  // what was in flight has landed
    const RingFile& old = *old_rings.back();
    const std::string before(reinterpret_cast<const char*>(old.base()), old.bytes());
    await_each(500);
    ASSERT_EQ(memcmp(before.data(), old.base(), old.bytes()), 0) << "round " << round;
    // Each has entered the new ring, once. (A copy of it may miss one: all its chunks recycled.)
    ASSERT_EQ(ring_->header()->next_thread_serial.load(), 1 + kWriters);
    old_rings.clear();  // unmapped: a late write would crash
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(Window().dropped_events, 0u);
}

}  // namespace
}  // namespace jankbox
