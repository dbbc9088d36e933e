#include "tracer/ring/recorder.h"

#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "tests/emulator.h"
#include "tests/tracer/ring/test_ring.h"

namespace jankbox {
namespace {

using RecorderTest = RingTest;

TEST_F(RecorderTest, EventsComeBackInOrderWithKindIdAndTime) {
  OpenRing(1 << 20);
  const uint64_t before = NowTicks();
  RecordEvent(EventKind::kBegin, 7);
  RecordEvent(EventKind::kBegin, kMaxMethodId);
  RecordValue(EventKind::kCounter, 9, 0xfedcba9876543210u);
  RecordEvent(EventKind::kEnd, kMaxMethodId);
  RecordEvent(EventKind::kEnd, 7);
  const uint64_t after = NowTicks();
  const RingWindow window = Window();
  const std::vector<EventRecord> events = Events(window, CurrentTid());
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[0].kind, EventKind::kBegin);
  EXPECT_EQ(events[1].id, kMaxMethodId);
  EXPECT_EQ(JoinPayload(events[2].payload[0], events[2].payload[1]), 0xfedcba9876543210u);
  uint64_t last = before;
  for (const EventRecord& event : events) {
    EXPECT_GE(event.ticks, last);
    last = event.ticks;
  }
  EXPECT_LE(last, after);
}

TEST_F(RecorderTest, NothingIsRecordedWhenClosed) {
  OpenRing(1 << 20);
  RecordEvent(EventKind::kInstant, 1);
  Recorder::Close();
  EXPECT_FALSE(RecordingOn());
  RecordEvent(EventKind::kInstant, 2);
  EXPECT_EQ(Events(Window(), CurrentTid()).size(), 1u);
}

TEST_F(RecorderTest, ForkedChildRecordsNothing) {
  OpenRing(1 << 20);
  RecordEvent(EventKind::kInstant, 1);
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 100000; ++i) RecordEvent(EventKind::kInstant, 2);
    _exit(RecordingOn() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  RecordEvent(EventKind::kInstant, 3);
  const RingWindow window = Window();
  size_t events = 0;
  for (const WindowThread& thread : window.threads) {
    for (const WindowChunk& chunk : thread.chunks) events += chunk.words.size();
  }
  EXPECT_EQ(events, 2u);
}

TEST_F(RecorderTest, OuterCallOutlivesTheChunkOfItsBegin) {
  OpenRing(1 << 20);
  RecordEvent(EventKind::kBegin, 42);
  for (int i = 0; i < 200000; ++i) {  // laps the ring several times
    RecordEvent(EventKind::kBegin, 1);
    RecordEvent(EventKind::kEnd, 1);
  }
  const RingWindow window = Window();
  ASSERT_EQ(window.threads.size(), 1u);
  const WindowChunk& first = window.threads[0].chunks[0];
  EXPECT_TRUE(first.gap_before);
  EXPECT_GE(window.overwritten_chunks, 1u);
  ASSERT_GE(first.open_calls.size(), 1u);
  EXPECT_EQ(first.open_calls[0].id, 42u);
  EXPECT_LT(first.open_calls[0].ticks, first.base_ticks);
}

TEST_F(RecorderTest, FloodOfWorkersLeavesTheWatchedThreadsShare) {
  OpenRing(2 << 20);
  WatchThisThread();
  std::atomic<int> id{1000};
  for (int i = 0; i < 5000; ++i) RecordEvent(EventKind::kInstant, 5);
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&] {
      const uint32_t mine = static_cast<uint32_t>(id.fetch_add(1));
      for (int i = 0; i < 300000; ++i) RecordEvent(EventKind::kInstant, mine);
    });
  }
  for (std::thread& worker : workers) worker.join();
  const RingWindow window = Window();
  EXPECT_EQ(Events(window, CurrentTid()).size(), 5000u);
}

TEST_F(RecorderTest, EveryThreadKeepsItsOwnOrderWhileASnapshotIsCopied) {
  OpenRing(2 << 20);
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (int w = 0; w < 3; ++w) {
    writers.emplace_back([&stop] {
      for (uint32_t n = 1; !stop.load(std::memory_order_relaxed); n = n % kMaxMethodId + 1) {
        RecordEvent(EventKind::kInstant, n);
      }
    });
  }
  uint64_t checked = 0;
  int with_events = 0;
  const uint64_t give_up_ns = MonotonicNs() + 20 * kNsPerSecond;
  while (with_events < ByMachine(100, 10) && MonotonicNs() < give_up_ns) {
    const uint64_t checked_before = checked;
    const RingWindow window = Window();
    for (const WindowThread& thread : window.threads) {
      uint32_t last = 0;
      for (const WindowChunk& chunk : thread.chunks) {
        if (chunk.gap_before) last = 0;
        EventCursor cursor(chunk);
        EventRecord record;
        while (cursor.Next(&record)) {
          ASSERT_EQ(record.kind, EventKind::kInstant);
          if (last != 0) {
            ASSERT_EQ(record.id, last % kMaxMethodId + 1)
                << "lost or doubled without being counted";
          }
          last = record.id;
          ++checked;
        }
        ASSERT_FALSE(cursor.torn());
      }
    }
    with_events += checked != checked_before ? 1 : 0;
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_GT(checked, 10000u);
}

TEST_F(RecorderTest, ThreadChurnReusesChunks) {
  OpenRing(1 << 20);
  const int threads = ByMachine(3000, 300);
  for (int i = 0; i < threads; ++i) {
    std::thread([] { RecordEvent(EventKind::kInstant, 1); }).join();
  }
  EXPECT_EQ(Window().dropped_events, 0u);
}

TEST_F(RecorderTest, EventAtAnEarlierMomentIsMovedUpToItsChunk) {
  OpenRing(1 << 20);
  RecordEvent(EventKind::kInstant, 1);
  const uint64_t before = NowTicks();
  RecordEventAt(EventKind::kInstant, 2, 0, {});
  const RingWindow window = Window();
  const std::vector<EventRecord> events = Events(window, CurrentTid());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].ticks, window.threads[0].chunks[0].base_ticks);
  EXPECT_LT(events[1].ticks, before);
}

TEST_F(RecorderTest, SilenceLongerThanAnEventsTicksIsExact) {
  if (getenv("JANKBOX_SOAK") == nullptr) {
    GTEST_SKIP() << "sleeps until 2^35 ticks have passed: ./dev test --soak";
  }
  OpenRing(1 << 20);
  RecordEvent(EventKind::kBegin, 1);
  const uint64_t first = NowTicks();
  while (NowTicks() - first <= kMaxTickDelta) usleep(100000);
  const uint64_t before = NowTicks();
  RecordEvent(EventKind::kEnd, 1);
  const RingWindow window = Window();
  const std::vector<EventRecord> events = Events(window, CurrentTid());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_GE(events[1].ticks, before);
  EXPECT_LE(events[1].ticks, NowTicks());
  EXPECT_EQ(window.threads[0].chunks.size(), 1u);  // a new base, not a new chunk
}

void RecordInHandler(int) { RecordEvent(EventKind::kInstant, 77); }

TEST_F(RecorderTest, SignalHandlerMayRecordAtAnyPoint) {
  OpenRing(1 << 20);
  struct sigaction action {};
  action.sa_handler = RecordInHandler;
  action.sa_flags = SA_RESTART;
  struct sigaction old {};
  sigaction(SIGUSR1, &action, &old);
  std::atomic<bool> stop{false};
  const pthread_t target = pthread_self();
  std::thread sender([&] {
    while (!stop.load()) pthread_kill(target, SIGUSR1);
  });
  const uint64_t payload[3] = {1, 2, 3};
  const int rounds = ByMachine(300'000, 20'000);
  for (int i = 0; i < rounds; ++i) {
    RecordEvent(EventKind::kInstant, 5);
    RecordEventAt(EventKind::kStackSample, 3, UINT64_MAX, payload);
  }
  stop = true;
  sender.join();
  sigaction(SIGUSR1, &old, nullptr);
  const RingWindow window = Window();
  for (const EventRecord& event : Events(window, CurrentTid())) {  // fails on a torn chunk
    if (event.kind == EventKind::kStackSample) {
      ASSERT_EQ(PayloadOf(event.payload[2]), 3u);
    } else {
      ASSERT_TRUE(event.id == 5 || event.id == 77);
    }
  }
}

}  // namespace
}  // namespace jankbox
