// From the ring's words of binder calls to names, waits and the verdict, as on Android: this
// program has the Android half of DecodeWaitRecord().
#include <gmock/gmock.h>

#include "base/clock.h"
#include "diagnosis/verdict/blocking_calls.h"
#include "diagnosis/verdict/longest_waits.h"
#include "diagnosis/verdict/wall_time.h"
#include "tracer/event/binder_call.h"
#include "tracer/ring/binder_names.h"
#include "tracer/ring/wait_record.h"
#include "tracer/snapshot/wait_slices.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;

constexpr int32_t kUi = 7;

void PushCall(WindowChunk* chunk, uint64_t from, uint64_t to, uint32_t code,
              const std::string& interface) {
  BinderCall call{.code = code, .handle = 12};
  call.interface_bytes = static_cast<uint32_t>(interface.copy(call.interface, kMaxInterfaceBytes));
  const EncodedBinderCall begin = EncodeBinderCall(call);
  chunk->words.push_back(MakeEvent(EventKind::kWait, begin.id, from));
  for (uint32_t i = 0; i < begin.words; ++i) chunk->words.push_back(MakePayload(begin.payload[i]));
  const EncodedWait end = EncodeWait({.what = WaitClass::kBinder, .end = true});
  chunk->words.push_back(MakeEvent(EventKind::kWait, end.id, to));
}

RingWindow WindowOf(const WindowChunk& chunk) {
  RingWindow window;
  window.to_ticks = 100 * kNsPerMs;
  WindowThread thread;
  thread.tid = kUi;
  thread.markers = {chunk};
  window.threads = {thread};
  return window;
}

TickConverter Clock() {
  const ClockReading start{1, 1, 1, 1}, later{1'000'000'001, 1'000'000'001, 1'000'000'001, 1};
  return TickConverter(start, later, 1.0);
}

TEST(BinderCalls, CallIsNamedInTraceAndVerdict) {
  BinderNames::Get().Add("android.os.IServiceManager$Stub", "TRANSACTION_getService", 1);
  WindowChunk chunk;
  chunk.base_ticks = 1'000;
  PushCall(&chunk, 10 * kNsPerMs, 60 * kNsPerMs, 1, "android.os.IServiceManager");
  PushCall(&chunk, 70 * kNsPerMs, 90 * kNsPerMs, 21, "com.example.IOther");
  const RingWindow window = WindowOf(chunk);

  const std::vector<WaitSpan> waits = BlockingCalls(window, kUi, window.to_ticks, Clock());
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].begin.what, WaitClass::kBinder);
  EXPECT_EQ(WaitName(waits[0].begin, ""), "binder call IServiceManager.getService");
  EXPECT_EQ(WaitName(waits[1].begin, ""), "binder call IOther:21");

  WallTimeEvidence evidence;
  evidence.from_ns = 0;
  evidence.to_ns = 100 * kNsPerMs;
  evidence.waits = waits;
  const Verdict verdict = SplitWallTime(evidence);
  EXPECT_EQ(verdict.total_ns(), 100 * kNsPerMs);
  EXPECT_EQ(verdict.Of(VerdictCause::kIpc), 70 * kNsPerMs);
  EXPECT_EQ(verdict.Of(VerdictCause::kLock), 0u);
  EXPECT_THAT(VerdictSentence(verdict, {}),
              testing::HasSubstr("in binder call IServiceManager.getService"));

  EXPECT_THAT(LongestWaits(window, ThreadLives(window, {}), kUi, 0, window.to_ticks, Clock()),
              ElementsAre("binder call IServiceManager.getService: 50 ms.",
                          "binder call IOther:21: 20 ms."));
}

TEST(BinderCalls, NameStaysTheSameForItsUsers) {
  BinderCall call{.code = 5, .handle = 3};
  const std::string name = "com.example.ILate";
  call.interface_bytes = static_cast<uint32_t>(name.copy(call.interface, kMaxInterfaceBytes));
  const char* const before = BinderNames::Get().NameOf(call);
  EXPECT_STREQ(before, "binder call ILate:5");
  EXPECT_EQ(BinderNames::Get().NameOf(call), before);
  EXPECT_TRUE(BinderNames::Get().Add("com.example.ILate$Stub", "TRANSACTION_late", 5));
  EXPECT_STREQ(BinderNames::Get().NameOf(call), "binder call ILate.late");
  EXPECT_STREQ(before, "binder call ILate:5");
  EXPECT_STREQ(BinderNames::Get().NameOf({.code = 0x5f504e47, .handle = 3}), "binder call #3:_PNG");
}

TEST(BinderCalls, DamagedCallIsNoWait) {
  const EncodedBinderCall begin = EncodeBinderCall({.code = 1, .handle = 1});
  const uint64_t words[2] = {MakePayload(begin.payload[0]), MakePayload(0)};
  EventRecord record{.kind = EventKind::kWait, .id = begin.id, .ticks = 1, .payload = words};
  WaitEvent wait;
  EXPECT_FALSE(DecodeWaitRecord(record, &wait));  // a word more than it says
  record.payload = {};
  EXPECT_FALSE(DecodeWaitRecord(record, &wait));
  record.payload = {words, 1};
  EXPECT_TRUE(DecodeWaitRecord(record, &wait));
}

// Last: the names stay.
TEST(BinderCalls, NamesAreBounded) {
  for (uint32_t code = 1; code <= BinderNames::kMaxTexts + 1; ++code) {
    BinderNames::Get().NameOf({.code = code});
  }
  EXPECT_STREQ(BinderNames::Get().NameOf({.code = BinderNames::kMaxTexts + 2}), "binder call");
  EXPECT_STREQ(BinderNames::Get().NameOf({.code = 1}), "binder call #0:1");
}

}  // namespace
}  // namespace jankbox
