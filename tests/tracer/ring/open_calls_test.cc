#include "tracer/ring/open_calls.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "tests/emulator.h"
#include "tracer/event/event.h"

namespace jankbox {
namespace {

struct TestChunk {
  RingChunk* chunk() { return reinterpret_cast<RingChunk*>(bytes.data()); }
  std::vector<uint64_t> bytes = std::vector<uint64_t>(kChunkBytes / sizeof(uint64_t));
};

std::vector<RingOpenCall> Calls(const OpenCallStack& stack) {
  std::vector<uint64_t> words(2 * kMaxOpenCalls);
  stack.WriteTo(words.data());
  std::vector<RingOpenCall> calls(stack.size());
  if (!calls.empty()) memcpy(calls.data(), words.data(), calls.size() * sizeof(RingOpenCall));
  return calls;
}

void ExpectSame(TestChunk* test, const uint64_t* end) {
  OpenCallStack fast, slow;
  fast.Replay(test->chunk(), end);
  slow.ReplayOneByOne(test->chunk(), end);
  ASSERT_EQ(fast.truncated(), slow.truncated());
  const std::vector<RingOpenCall> a = Calls(fast), b = Calls(slow);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].id, b[i].id) << i;
    ASSERT_EQ(a[i].kind, b[i].kind) << i;
    ASSERT_EQ(a[i].ticks, b[i].ticks) << i;
  }
}

// Random calls, well nested, over open calls from before; now and then an end is missing if
// `damage` is above 0, and other events are between.
TEST(OpenCallStack, CountingBackwardsFindsWhatReplayingFinds) {
  const uint32_t seeds = ByMachine(3000u, 200u);
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const uint32_t damage = seed % 3 == 0 ? 1 + random() % 100 : 0;
    // A method that calls itself and loses an end is taken for its own caller until that returns.
    const uint32_t ids = damage == 0 ? 50 : kMaxMethodId;
    TestChunk test;
    RingChunk* chunk = test.chunk();
    chunk->base_ticks = 1'000'000;
    chunk->open_calls = random() % 2 == 0 ? 0 : random() % 20;
    if (seed % 50 == 0) chunk->open_calls = kMaxOpenCalls;
    chunk->open_calls_truncated = seed % 100 == 0 ? 3 : 0;
    auto* open = reinterpret_cast<RingOpenCall*>(chunk + 1);
    std::vector<std::pair<uint32_t, bool>> stack;
    for (uint32_t i = 0; i < chunk->open_calls; ++i) {
      const bool dispatch = random() % 8 == 0;
      const uint32_t id = dispatch ? 0 : 1 + random() % ids;
      open[i] = {i, id,
                 static_cast<uint32_t>(dispatch ? EventKind::kDispatchBegin : EventKind::kBegin)};
      stack.emplace_back(id, dispatch);
    }
    uint64_t* at = FirstWord(chunk);
    uint64_t* const limit = test.bytes.data() + test.bytes.size() - 8;
    const size_t words = random() % 2100;
    const uint32_t deepest = 1 + random() % 200;
    const bool others = random() % 2 == 0;
    for (size_t i = 0; i < words && at < limit; ++i) {
      const uint64_t ticks = 1'000'000 + i;
      if (others && random() % 30 == 0) {
        *at++ = MakeEvent(EventKind::kCounter, 3, ticks);
        *at++ = MakePayload(random());
        *at++ = MakePayload(0);
      } else if (others && random() % 500 == 0) {
        *at++ = MakeEvent(EventKind::kRebase, 0, 5'000'000);
        *at++ = MakePayload(5'000'000);
        *at++ = MakePayload(0);
      } else if (stack.empty() || (random() % 2 == 0 && stack.size() < deepest)) {
        const bool dispatch = others && random() % 10 == 0;
        const uint32_t id = dispatch ? 0 : 1 + random() % ids;
        *at++ = MakeEvent(dispatch ? EventKind::kDispatchBegin : EventKind::kBegin, id, ticks);
        stack.emplace_back(id, dispatch);
      } else {
        const auto [id, dispatch] = stack.back();
        stack.pop_back();
        if (random() % 1000 >= damage) {
          *at++ = MakeEvent(dispatch ? EventKind::kDispatchEnd : EventKind::kEnd, id, ticks);
        }
      }
    }
    ExpectSame(&test, at);
  }
}

TEST(OpenCallStack, AnEndThatIsMissingLeavesNoCallOpenForEver) {
  TestChunk test;
  uint64_t* at = FirstWord(test.chunk());
  for (uint32_t i = 0; i < 300; ++i) {
    *at++ = MakeEvent(EventKind::kBegin, 1, i);
    *at++ = MakeEvent(EventKind::kBegin, 2, i);  // left by an exception
    *at++ = MakeEvent(EventKind::kEnd, 1, i);
  }
  OpenCallStack stack;
  stack.Replay(test.chunk(), at);
  EXPECT_EQ(stack.size(), 0u);
}

}  // namespace
}  // namespace jankbox
