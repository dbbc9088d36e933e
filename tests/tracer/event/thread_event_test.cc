#include "tracer/event/thread_event.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace jankbox {
namespace {

ThreadEvent RoundTrip(const ThreadEvent& event) {
  const EncodedThreadEvent encoded = EncodeThreadEvent(event);
  EXPECT_EQ(encoded.id & kAsidePayloadMask, encoded.words);
  for (uint64_t word : encoded.payload) EXPECT_LE(word, kPayloadMask);
  ThreadEvent decoded;
  EXPECT_TRUE(DecodeThreadEvent(encoded.id, {encoded.payload, encoded.words}, &decoded));
  EXPECT_EQ(decoded.step, event.step);
  EXPECT_EQ(decoded.tid, event.tid);
  EXPECT_EQ(decoded.ticks, event.ticks);
  return decoded;
}

ThreadEvent Named(const std::string& name) {
  ThreadEvent event{.step = ThreadStep::kNamed, .tid = 9, .ticks = 77};
  memcpy(event.name, name.data(), std::min<size_t>(name.size(), sizeof(event.name)));
  return event;
}

TEST(ThreadEvent, CreationKeepsWholeTidsAndMoments) {
  const ThreadEvent decoded = RoundTrip({.step = ThreadStep::kCreated,
                                         .tid = INT32_MAX,
                                         .ticks = UINT64_MAX,
                                         .parent_tid = 4'194'304,
                                         .started_ticks = uint64_t{1} << 63});
  EXPECT_EQ(decoded.parent_tid, 4'194'304);
  EXPECT_EQ(decoded.started_ticks, uint64_t{1} << 63);
}

TEST(ThreadEvent, NamesOfEveryLengthAndByteComeBack) {
  std::string name;
  for (size_t length = 0; length <= 15; ++length) {
    EXPECT_EQ(RoundTrip(Named(name)).name, name);
    name += static_cast<char>(0xf0 + length);
  }
  EXPECT_EQ(std::string(RoundTrip(Named("sixteen bytes...")).name), "sixteen bytes..");
}

TEST(ThreadEvent, EndsHaveNoMoreThanTheirMoment) {
  RoundTrip({.step = ThreadStep::kEnded, .tid = 12, .ticks = 5});
  EXPECT_EQ(EncodeThreadEvent({.step = ThreadStep::kEnded, .tid = 12}).words, 3u);
}

TEST(ThreadEvent, WakeUpsKeepTheThreadThatDidIt) {
  const ThreadEvent decoded = RoundTrip(
      {.step = ThreadStep::kWoken, .tid = 12, .ticks = UINT64_MAX, .waker_tid = 4'194'304});
  EXPECT_EQ(decoded.waker_tid, 4'194'304);
  EXPECT_EQ(decoded.parent_tid, 0);
  EncodedThreadEvent bad = EncodeThreadEvent({.step = ThreadStep::kWoken, .tid = 12});
  EXPECT_EQ(bad.words, 4u);
  bad.payload[3] = uint64_t{INT32_MAX} + 1;
  ThreadEvent event;
  EXPECT_FALSE(DecodeThreadEvent(bad.id, {bad.payload, bad.words}, &event));
}

TEST(ThreadEvent, EveryOtherLengthStepAndBitIsRefused) {
  const EncodedThreadEvent good = EncodeThreadEvent(Named("worker"));
  ThreadEvent event;
  std::vector<uint64_t> words(good.payload, good.payload + good.words);
  ASSERT_TRUE(DecodeThreadEvent(good.id, words, &event));
  for (size_t kept = 0; kept < words.size(); ++kept) {
    EXPECT_FALSE(DecodeThreadEvent(good.id, {words.data(), kept}, &event)) << kept;
  }
  for (uint32_t bit = 0; bit < kEventIdBits; ++bit) {
    EXPECT_FALSE(DecodeThreadEvent(good.id ^ 1u << bit, words, &event)) << bit;
  }
  words[0] = uint64_t{INT32_MAX} + 1;
  EXPECT_FALSE(DecodeThreadEvent(good.id, words, &event));
  words[0] = 1;
  words[2] = 16;
  EXPECT_FALSE(DecodeThreadEvent(good.id, words, &event));
}

}  // namespace
}  // namespace jankbox
