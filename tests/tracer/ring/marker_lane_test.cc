// The lane of markers, waits and names: its own chunks of its own share, read back exactly.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "base/own_thread.h"
#include "tests/tracer/ring/test_ring.h"
#include "tracer/event/event_sink.h"
#include "tracer/ring/chunk_writer.h"

namespace jankbox {
namespace {

class MarkerLaneTest : public RingTest {
 protected:
  static const WindowThread* ThreadOf(const RingWindow& window, int tid) {
    for (const WindowThread& thread : window.threads) {
      if (thread.tid == tid) return &thread;
    }
    return nullptr;
  }
  // Every record of the thread's lane, in order.
  static std::vector<EventRecord> Markers(const WindowThread& thread) {
    std::vector<EventRecord> records;
    for (const WindowChunk& chunk : thread.markers) {
      EventCursor cursor(chunk);
      EventRecord record;
      while (cursor.Next(&record)) records.push_back(record);
      EXPECT_FALSE(cursor.torn());
    }
    return records;
  }
};

TEST_F(MarkerLaneTest, TextsOfEveryLengthComeBackWhole) {
  OpenRing(4 << 20);
  std::string text = "B|1|";
  std::vector<std::string> written;
  for (size_t bytes = 0; bytes <= kMaxMarkerBytes; bytes += bytes < 40 ? 1 : 41) {
    while (text.size() < bytes) text += static_cast<char>('a' + text.size() % 26);
    written.push_back(text.substr(0, bytes));
    RecordMarker(written.back());
  }
  RecordMarker(std::string(kMaxMarkerBytes + 7, 'x'));
  const RingWindow window = Window();
  const WindowThread* thread = ThreadOf(window, CurrentTid());
  ASSERT_NE(thread, nullptr);
  EXPECT_TRUE(thread->chunks.empty());
  std::vector<std::string> read;
  uint64_t last_ticks = 0;
  for (const EventRecord& record : Markers(*thread)) {
    if ((record.id & kCarriedMarker) != 0) continue;
    ASSERT_EQ(record.kind, EventKind::kMarker);
    read.push_back(MarkerText(record));
    EXPECT_GE(record.ticks, last_ticks);
    last_ticks = record.ticks;
  }
  written.push_back(std::string(kMaxMarkerBytes, 'x'));
  EXPECT_EQ(read, written);
}

TEST_F(MarkerLaneTest, FloodOfMarkersEvictsNoCallsAndIsCounted) {
  OpenRing(2 << 20);
  for (int i = 0; i < 1000; ++i) RecordEvent(EventKind::kBegin, 5);
  for (int i = 0; i < 200'000; ++i) RecordMarker("C|1|counter|" + std::to_string(i));
  const RingWindow window = Window();
  const WindowThread* thread = ThreadOf(window, CurrentTid());
  ASSERT_NE(thread, nullptr);
  EXPECT_EQ(Events(window, CurrentTid()).size(), 1000u);
  EXPECT_GT(window.overwritten_chunks, 0u);
  EXPECT_GT(thread->marker_words_before, 500'000u);
  ASSERT_FALSE(thread->markers.empty());
  EXPECT_TRUE(thread->markers[0].gap_before);
  const std::vector<EventRecord> left = Markers(*thread);
  EXPECT_EQ(MarkerText(left.back()), "C|1|counter|199999");
  for (size_t i = 1; i < left.size(); ++i) {
    EXPECT_EQ(MarkerText(left[i - 1]),
              "C|1|counter|" + std::to_string(200'000 - left.size() + i - 1));
  }
}

TEST_F(MarkerLaneTest, OpenMarkersAreCarriedFromChunkToChunk) {
  OpenRing(2 << 20);
  RecordMarker("B|1|outer " + std::string(300, 'o'));
  RecordMarker("B|1|closed");
  RecordMarker("E|1");
  RecordMarker("B|1|inner");
  for (int i = 0; i < 50'000; ++i) {
    RecordMarker("B|1|leaf");
    RecordMarker("E|1");
  }
  const RingWindow window = Window();
  const WindowThread* thread = ThreadOf(window, CurrentTid());
  ASSERT_NE(thread, nullptr);
  ASSERT_GT(thread->markers.size(), 1u);
  uint64_t outer_ticks = 0;
  for (const WindowChunk& chunk : thread->markers) {
    EventCursor cursor(chunk);
    EventRecord record;
    ASSERT_TRUE(cursor.Next(&record));
    EXPECT_EQ(record.id & kCarriedMarker, kCarriedMarker);
    EXPECT_EQ(MarkerText(record), "B|1|outer " + std::string(102, 'o'));
    EXPECT_LT(record.ticks, chunk.base_ticks);
    EXPECT_TRUE(outer_ticks == 0 || record.ticks == outer_ticks);
    outer_ticks = record.ticks;
    ASSERT_TRUE(cursor.Next(&record));
    EXPECT_EQ(MarkerText(record), "B|1|inner");
    EXPECT_EQ(record.id & kCarriedMarker, kCarriedMarker);
  }
}

TEST_F(MarkerLaneTest, WatchedThreadsMarkersOutliveTheFloodsOfOthers) {
  OpenRing(2 << 20);
  std::thread watched([&] {
    WatchThisThread();
    RecordMarker("I|1|kept");
    std::thread([] {
      for (int i = 0; i < 100'000; ++i) RecordMarker("I|1|flood");
    }).join();
    const RingWindow window = Window();
    const WindowThread* thread = ThreadOf(window, CurrentTid());
    ASSERT_NE(thread, nullptr);
    EXPECT_TRUE(thread->ui);
    ASSERT_EQ(Markers(*thread).size(), 1u);
  });
  watched.join();
}

TEST_F(MarkerLaneTest, BothLanesAreOneThreadAndEndWithIt) {
  OpenRing(2 << 20);
  int tid = 0;
  const size_t before = CursorsTaken();
  std::thread([&] {
    tid = CurrentTid();
    RecordMarker("I|1|first");
    RecordEvent(EventKind::kInstant, 3);
    const uint64_t payload[] = {7, 8};
    RecordAside(EventKind::kWait, 0x120 | 2, payload);
  }).join();
  EXPECT_EQ(CursorsTaken(), before);
  const RingWindow window = Window();
  const WindowThread* thread = ThreadOf(window, tid);
  ASSERT_NE(thread, nullptr);
  EXPECT_EQ(Events(window, tid).size(), 1u);
  const std::vector<EventRecord> markers = Markers(*thread);
  ASSERT_EQ(markers.size(), 2u);
  EXPECT_EQ(markers[1].kind, EventKind::kWait);
  EXPECT_EQ(markers[1].id, 0x122u);
  EXPECT_EQ(PayloadOf(markers[1].payload[1]), 8u);
  const RingReader reader(ring_->base(), ring_->bytes());
  for (size_t i = 0; i < reader.chunk_count(); ++i) {
    EXPECT_EQ(reader.chunk(i).owner.load(), kNoOwner) << i;
  }
}

TEST_F(MarkerLaneTest, ForkedChildWritesNoMarkers) {
  OpenRing(2 << 20);
  RecordMarker("I|1|parent");
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 1000; ++i) RecordMarker("I|1|child");
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  RecordMarker("I|1|parent again");
  const RingWindow window = Window();
  ASSERT_EQ(window.threads.size(), 1u);
  EXPECT_EQ(Markers(window.threads[0]).size(), 2u);
}

std::atomic<uint64_t> g_from_handler{0};

// A handler's markers land between those of the thread that it interrupted, whole, or are counted.
TEST_F(MarkerLaneTest, HandlersMarkersAreWholeOrCounted) {
  OpenRing(64 << 20);
  struct sigaction action = {};
  action.sa_handler = [](int) {
    RecordMarker("C|1|handler|12345");
    g_from_handler.fetch_add(1, std::memory_order_relaxed);
  };
  struct sigaction before = {};
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval often = {{0, 100}, {0, 100}};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  uint64_t own = 0;
  for (; g_from_handler.load() < 50 && own < 60'000; ++own) {
    RecordMarker("B|1|a name of some length " + std::to_string(own));
    RecordMarker("E|1");
  }
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  const RingWindow window = Window();
  ASSERT_EQ(window.overwritten_chunks, 0u);
  uint64_t ends = 0, handlers = 0, names = 0;
  for (const EventRecord& record : Markers(*ThreadOf(window, CurrentTid()))) {
    if ((record.id & kCarriedMarker) != 0) continue;
    const std::string text = MarkerText(record);
    if (text == "E|1") {
      ++ends;
    } else if (text == "C|1|handler|12345") {
      ++handlers;
    } else {
      EXPECT_EQ(text, "B|1|a name of some length " + std::to_string(names)) << text;
      ++names;
    }
  }
  EXPECT_EQ(ends + handlers + names + window.dropped_events, 2 * own + g_from_handler.load());
  EXPECT_GT(handlers, 0u);
}

}  // namespace
}  // namespace jankbox
