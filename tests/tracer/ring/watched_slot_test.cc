#include "tracer/ring/watched_slot.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>

#include "base/own_thread.h"

namespace jankbox {
namespace {

// Such a ring is usually mapped where the one before it was.
TEST(WatchedSlot, RingInThePlaceOfAnEarlierOneHasASlotOfItsOwn) {
  auto ring = std::make_unique<RingHeader>();
  ring->clock_at_start.ticks = 1;
  for (RingWatchedThread& thread : ring->watched) thread.tid = CurrentTid() + 1;
  EXPECT_FALSE(WatchedSlot::OfThisThread(ring.get())) << "all are taken";
  for (uint64_t start = 2; start < 4; ++start) {
    new (ring.get()) RingHeader();
    ring->clock_at_start.ticks = start;
    EXPECT_FALSE(WatchedSlot::ClaimedByThisThread(ring.get()));
    const WatchedSlot slot = WatchedSlot::OfThisThread(ring.get());
    ASSERT_TRUE(slot);
    EXPECT_EQ(slot.thread().tid, CurrentTid());
    EXPECT_TRUE(WatchedSlot::ClaimedByThisThread(ring.get()));
  }
}

}  // namespace
}  // namespace jankbox
