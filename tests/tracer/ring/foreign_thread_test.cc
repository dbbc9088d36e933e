#include "tracer/ring/foreign_thread.h"

#include <gmock/gmock.h>

#include "tests/fakes/fake_ring.h"
#include "tracer/ring/ring_reader.h"

namespace jankbox {
namespace {

constexpr int32_t kTid = 4242;

class ForeignThreadTest : public testing::Test {
 protected:
  ForeignThreadTest() { WatchedSlot::SetClock(1.0, 1000); }

  RingWindow Window(uint64_t from, uint64_t to) {
    const RingReader reader(ring_.file()->base(), ring_.file()->bytes());
    return reader.CopyWindow(from, to, std::make_shared<WindowBuffer>());
  }
  const RingWatchedThread& Slot() { return ring_.header()->watched[2]; }

  FakeRing ring_{4 << 20};
  const uint64_t start_ = ring_.header()->clock_at_start.ticks;
};

TEST_F(ForeignThreadTest, DispatchesHaveTheThreadsIdAndTheirOwnMoments) {
  ForeignThread thread(ring_.file(), 2, kTid, "render");
  thread.BeginDispatch(start_ + 100);
  EXPECT_EQ(Slot().dispatch_begin_ticks.load(), start_ + 100);
  thread.EndDispatch(start_ + 300);
  EXPECT_EQ(Slot().dispatch_begin_ticks.load(), 0u);
  EXPECT_EQ(Slot().slow_version.load(), 0u);
  EXPECT_EQ(Slot().dispatch_count.load(), 1u);
  const RingWindow window = Window(start_, start_ + 1000);
  ASSERT_EQ(window.threads.size(), 1u);
  EXPECT_EQ(window.threads[0].tid, kTid);
  EXPECT_EQ(window.threads[0].name, "render");
  EventCursor cursor(window.threads[0].chunks.at(0));
  EventRecord record;
  ASSERT_TRUE(cursor.Next(&record));
  EXPECT_EQ(record.kind, EventKind::kDispatchBegin);
  EXPECT_EQ(record.ticks, start_ + 100);
  ASSERT_TRUE(cursor.Next(&record));
  EXPECT_EQ(record.kind, EventKind::kDispatchEnd);
  EXPECT_EQ(record.ticks, start_ + 300);
  EXPECT_FALSE(cursor.Next(&record));
}

TEST_F(ForeignThreadTest, SlowDispatchIsNotedAndAForgottenOneIsNot) {
  ForeignThread thread(ring_.file(), 2, kTid, "main");
  thread.BeginDispatch(start_ + 100);
  thread.ForgetDispatch(start_ + 5000);
  EXPECT_EQ(Slot().slow_version.load(), 0u);
  thread.BeginDispatch(start_ + 6000);
  thread.EndDispatch(start_ + 7001);
  EXPECT_EQ(Slot().slow_begin_ticks.load(), start_ + 6000);
  EXPECT_EQ(Slot().slow_end_ticks.load(), start_ + 7001);
}

TEST_F(ForeignThreadTest, TimeDoesNotGoBack) {
  ForeignThread thread(ring_.file(), 2, kTid, "main");
  thread.BeginDispatch(start_ + 500);
  thread.EndDispatch(start_ + 400);
  thread.BeginDispatch(start_ + 450);
  EXPECT_EQ(Slot().dispatch_begin_ticks.load(), start_ + 500);
}

TEST_F(ForeignThreadTest, ManyDispatchesFillChunkAfterChunk) {
  constexpr uint64_t kDispatches = 10'000;
  {
    ForeignThread thread(ring_.file(), 2, kTid, "main");
    for (uint64_t i = 0; i < kDispatches; ++i) {
      thread.BeginDispatch(start_ + 10 * i);
      thread.EndDispatch(start_ + 10 * i + 5);
    }
  }
  EXPECT_EQ(Slot().tid.load(), 0);  // the slot is free again
  const RingWindow window = Window(start_, start_ + 10 * kDispatches);
  ASSERT_EQ(window.threads.size(), 1u);
  EXPECT_GT(window.threads[0].chunks.size(), 5u);
  uint64_t next = 0;
  for (const WindowChunk& chunk : window.threads[0].chunks) {
    EventCursor cursor(chunk);
    EventRecord record;
    for (; cursor.Next(&record); ++next) {
      ASSERT_EQ(record.ticks, start_ + 10 * (next / 2) + (next % 2 == 0 ? 0 : 5));
    }
  }
  EXPECT_EQ(next, 2 * kDispatches);
}

TEST_F(ForeignThreadTest, MomentsFarApartAreKept) {
  ForeignThread thread(ring_.file(), 2, kTid, "main");
  thread.BeginDispatch(start_ + 1);
  const uint64_t later = start_ + 3 * kMaxTickDelta;
  thread.EndDispatch(later);
  const RingWindow window = Window(start_, later + 1);
  EventCursor cursor(window.threads.at(0).chunks.at(0));
  EventRecord record;
  ASSERT_TRUE(cursor.Next(&record));
  ASSERT_TRUE(cursor.Next(&record));
  EXPECT_EQ(record.ticks, later);
}

}  // namespace
}  // namespace jankbox
