#include "tracer/event/wait_event.h"

#include <gtest/gtest.h>

#include <random>

namespace jankbox {
namespace {

bool Decode(const EncodedWait& encoded, WaitEvent* wait) {
  return DecodeWait(encoded.id, {&encoded.payload, encoded.words}, wait);
}

void ExpectRoundTrip(const WaitEvent& wait) {
  const EncodedWait encoded = EncodeWait(wait);
  EXPECT_LE(encoded.id, kMaxMethodId);
  EXPECT_LE(encoded.payload, kPayloadMask);
  WaitEvent decoded;
  ASSERT_TRUE(Decode(encoded, &decoded));
  EXPECT_EQ(decoded.what, wait.what);
  EXPECT_EQ(decoded.end, wait.end);
  EXPECT_EQ(decoded.fd_class, wait.fd_class);
  EXPECT_EQ(decoded.owner_tid, wait.owner_tid);
  EXPECT_EQ(decoded.bytes, wait.bytes);
  EXPECT_EQ(decoded.result, wait.result);
}

TEST(WaitEvent, LocksCarryTheirOwner) {
  for (const int32_t owner : {0, 1, 32'768, 4'194'304, INT32_MAX}) {
    ExpectRoundTrip({.what = WaitClass::kMutex, .owner_tid = owner});
    ExpectRoundTrip({.what = WaitClass::kWriteLock, .owner_tid = owner});
    ExpectRoundTrip({.what = WaitClass::kJoin, .owner_tid = owner});
  }
  EXPECT_EQ(EncodeWait({.what = WaitClass::kMutex}).words, 0u);
}

TEST(WaitEvent, FilesCarryTheirClassSizeAndResult) {
  for (uint8_t fd_class = 0; fd_class <= wait_event::kMaxFdClass; ++fd_class) {
    ExpectRoundTrip({.what = WaitClass::kRead, .fd_class = fd_class, .bytes = 65'536});
    ExpectRoundTrip({.what = WaitClass::kClose, .end = true, .fd_class = fd_class});
  }
  for (const int64_t result : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{-110}, int64_t{65'536},
                               (int64_t{1} << 59) - 1, -(int64_t{1} << 59)}) {
    ExpectRoundTrip({.what = WaitClass::kPwrite, .end = true, .result = result});
  }
}

TEST(WaitEvent, SizesOutsideOfSixtyBitsAreCutNotSpilled) {
  const EncodedWait encoded = EncodeWait({.what = WaitClass::kRead, .bytes = UINT64_MAX});
  WaitEvent decoded;
  ASSERT_TRUE(Decode(encoded, &decoded));
  EXPECT_EQ(decoded.bytes, kPayloadMask);
  EXPECT_EQ(decoded.what, WaitClass::kRead);
}

TEST(WaitEvent, UnwrittenDataIsRefused) {
  WaitEvent wait;
  const uint64_t word = 7;
  const uint32_t mutex = EncodeWait({.what = WaitClass::kMutex}).id;
  EXPECT_TRUE(DecodeWait(mutex, {}, &wait));
  EXPECT_FALSE(DecodeWait(mutex, {&word, 1}, &wait));     // more words than it says
  EXPECT_FALSE(DecodeWait(mutex | 1, {}, &wait));         // fewer
  EXPECT_FALSE(DecodeWait(mutex | 1u << 15, {}, &wait));  // a bit that is not used
  EXPECT_FALSE(DecodeWait(mutex | 6u << 11, {}, &wait));  // a class of descriptor beyond the last
  EXPECT_FALSE(DecodeWait(9u << 5, {}, &wait));           // a hole among the classes
  EXPECT_FALSE(DecodeWait(26u << 5, {}, &wait));          // after the last
  EXPECT_FALSE(DecodeWait(0, {}, &wait));
  const uint64_t no_tid = uint64_t{INT32_MAX} + 1;
  EXPECT_FALSE(DecodeWait(mutex | 1, {&no_tid, 1}, &wait));
}

TEST(WaitEvent, AnyIdAndPayloadEitherDecodesToWhatEncodesBackOrIsRefused) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const auto id = static_cast<uint32_t>(random()) & kMaxMethodId & ~0x7ff'8000u;
    const uint64_t word = random() & (random() % 2 == 0 ? kPayloadMask : 0xffff);
    WaitEvent wait;
    if (!DecodeWait(id, {&word, id & 1}, &wait)) continue;
    if ((id & 1) != 0 && word == 0) continue;  // a zero that need not have been written
    const EncodedWait again = EncodeWait(wait);
    EXPECT_EQ(again.id, id);
    if ((id & 1) != 0) {
      EXPECT_EQ(again.payload, word);
    }
  }
}

}  // namespace
}  // namespace jankbox
