// The real recorder and the real encoder: what the trace says of calls whose begin is not in the
// ring any more.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/tracer/ring/test_ring.h"
#include "tests/tracer/snapshot/test_window.h"

namespace jankbox::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RecordedWindowTest : public RingTest {
 protected:
  void SetUp() override {
    RingTest::SetUp();
    RingOptions options;
    options.folder = folder_;
    options.bytes = 1 << 20;
    options.tick_source = TickSource::kClockGettime;  // ticks are ns, as in the other tests here
    ring_ = RingFile::Create(options).value();
    ASSERT_TRUE(ring_->Grow().ok());
    ASSERT_TRUE(Recorder::Open(ring_.get()).ok());
  }
  // Calls of "m2" until this thread's chunks have been recycled.
  void LapTheRing() {
    const uint64_t until = ring_->header()->next_sequence.load() + ring_->header()->chunk_count;
    while (ring_->header()->next_sequence.load() < until) {
      RecordEvent(EventKind::kBegin, 2);
      RecordEvent(EventKind::kEnd, 2);
    }
  }
  // The slices called `name` of a window that begins at `from`.
  std::vector<ReadSlice> SlicesFrom(uint64_t from, const std::string& name) {
    const RingWindow window =
        RingReader(ring_->base(), ring_->bytes()).CopyWindow(from, NowTicks());
    const MethodNames names = TestNames();
    const TestSnapshot snapshot = Snapshot(MakeInput(window, names));
    EXPECT_EQ(snapshot.stats.torn_events, 0u);
    std::vector<ReadSlice> slices;
    std::copy_if(snapshot.trace.slices.begin(), snapshot.trace.slices.end(),
                 std::back_inserter(slices), [&](const ReadSlice& s) { return s.name == name; });
    return slices;
  }
};

TEST_F(RecordedWindowTest, OuterCallWhoseBeginWasRecycledIsThereFromItsBegin) {
  const uint64_t before = NowTicks();
  RecordEvent(EventKind::kBegin, 1);
  const uint64_t after = NowTicks();
  LapTheRing();
  const uint64_t from = NowTicks();
  LapTheRing();
  RecordEvent(EventKind::kEnd, 1);
  const std::vector<ReadSlice> slices = SlicesFrom(from, "m1");
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_GE(slices[0].ts, before + kBoottimeOffsetNs);
  EXPECT_LE(slices[0].ts, after + kBoottimeOffsetNs);
  EXPECT_EQ(slices[0].depth, 0u);
  EXPECT_THAT(slices[0].flags, ElementsAre("began_before_window"));
  for (const ReadSlice& inner : SlicesFrom(from, "m2")) ASSERT_EQ(inner.depth, 1u);
}

TEST_F(RecordedWindowTest, OuterCallThatIsStillOpenIsThereToo) {
  RecordEvent(EventKind::kBegin, 1);
  RecordEvent(EventKind::kBegin, 3);
  LapTheRing();
  LapTheRing();
  for (const char* name : {"m1", "m3"}) {
    const std::vector<ReadSlice> slices = SlicesFrom(NowTicks() - 1000, name);
    ASSERT_EQ(slices.size(), 1u);
    EXPECT_THAT(slices[0].flags, ElementsAre("began_before_window", "open_at_window_end"));
  }
  EXPECT_THAT(SlicesFrom(0, "m4"), IsEmpty());
}

}  // namespace
}  // namespace jankbox::testing
