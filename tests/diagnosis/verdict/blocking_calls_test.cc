#include "diagnosis/verdict/blocking_calls.h"

#include <gmock/gmock.h>

namespace jankbox {
namespace {

using ::testing::ElementsAre;

constexpr int32_t kUi = 7;

void Push(WindowChunk* chunk, uint64_t ticks, const WaitEvent& wait) {
  const EncodedWait encoded = EncodeWait(wait);
  chunk->words.push_back(MakeEvent(EventKind::kWait, encoded.id, ticks));
  if (encoded.words != 0) chunk->words.push_back(MakePayload(encoded.payload));
}

WaitEvent BeginOf(WaitClass what, int32_t owner_tid = 0) {
  return {.what = what, .owner_tid = owner_tid};
}
WaitEvent EndOf(WaitClass what) { return {.what = what, .end = true}; }

// "mutex-number from-to owner", in ns.
std::vector<std::string> Calls(const RingWindow& window) {
  const ClockReading start{1, 1, 1, 1}, later{1'000'000'001, 1'000'000'001, 1'000'000'001, 1};
  std::vector<std::string> lines;
  for (const WaitSpan& span :
       BlockingCalls(window, kUi, window.to_ticks, TickConverter(start, later, 1.0))) {
    lines.push_back(std::to_string(static_cast<uint32_t>(span.begin.what)) + " " +
                    std::to_string(span.from_ns) + "-" + std::to_string(span.to_ns) + " " +
                    std::to_string(span.begin.owner_tid));
  }
  return lines;
}

RingWindow WindowOf(std::vector<WindowChunk> markers) {
  RingWindow window;
  window.to_ticks = 9'000;
  WindowThread thread;
  thread.tid = kUi;
  thread.markers = std::move(markers);
  window.threads = {thread};
  return window;
}

TEST(BlockingCalls, BeginAndEndAreOneCallAndTheInnermostCounts) {
  WindowChunk chunk;
  chunk.base_ticks = 1'000;
  Push(&chunk, 1'100, BeginOf(WaitClass::kMutex, 42));
  Push(&chunk, 1'200, BeginOf(WaitClass::kWrite));  // in a signal handler
  Push(&chunk, 1'300, EndOf(WaitClass::kWrite));
  Push(&chunk, 1'500, EndOf(WaitClass::kMutex));
  EXPECT_THAT(Calls(WindowOf({chunk})),
              ElementsAre("1 1100-1200 42", "17 1200-1300 0", "1 1300-1500 42"));
}

TEST(BlockingCalls, OpenCallLastsToTheEndOfTheWindow) {
  WindowChunk chunk;
  chunk.base_ticks = 1'000;
  Push(&chunk, 1'100, BeginOf(WaitClass::kCondition));
  EXPECT_THAT(Calls(WindowOf({chunk})), ElementsAre("4 1100-9000 0"));
}

TEST(BlockingCalls, NothingIsSaidAcrossAGap) {
  WindowChunk first, second;
  first.base_ticks = 1'000;
  Push(&first, 1'100, BeginOf(WaitClass::kMutex, 42));
  second.base_ticks = 5'000;
  second.gap_before = true;
  Push(&second, 5'100, EndOf(WaitClass::kMutex));
  Push(&second, 5'200, BeginOf(WaitClass::kFsync));
  Push(&second, 5'300, EndOf(WaitClass::kFsync));
  EXPECT_THAT(Calls(WindowOf({first, second})), ElementsAre("22 5200-5300 0"));
}

TEST(BlockingCalls, OtherThreadsAreNotAsked) {
  WindowChunk chunk;
  chunk.base_ticks = 1'000;
  Push(&chunk, 1'100, BeginOf(WaitClass::kMutex, 42));
  RingWindow window = WindowOf({chunk});
  window.threads[0].tid = 8;
  EXPECT_THAT(Calls(window), ElementsAre());
}

}  // namespace
}  // namespace jankbox
