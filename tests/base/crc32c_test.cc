#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace jankbox {
namespace {

TEST(Crc32c, KnownAnswers) {  // RFC 3720, B.4
  EXPECT_EQ(Crc32c(0, "123456789", 9), 0xe3069283u);
  EXPECT_EQ(Crc32c(0, std::string(32, '\0').data(), 32), 0x8a9136aau);
  EXPECT_EQ(Crc32c(0, std::string(32, '\xff').data(), 32), 0x62a8ab43u);
  EXPECT_EQ(Crc32c(0, "", 0), 0u);
}

TEST(Crc32c, InstructionAndTableAgreeOnAnyLengthStartAndCut) {
  std::mt19937 random(5);
  std::string bytes(4 * kCrc32cLanesBytes, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (size_t from = 0; from < 9; ++from) {
    for (size_t length = 0; from + length <= bytes.size(); length += length < 300 ? 7 : 61) {
      const char* at = bytes.data() + from;
      const uint32_t whole = Crc32cPortable(0, at, length);
      ASSERT_EQ(Crc32c(0, at, length), whole);
      const size_t cut = length / 3;
      ASSERT_EQ(Crc32c(Crc32c(0, at, cut), at + cut, length - cut), whole);
    }
  }
}

TEST(Crc32c, SharedWordsHaveTheSameOne) {
  std::mt19937_64 random(5);
  std::vector<uint64_t> words(kCrc32cLanesBytes);  // several times as many bytes
  for (uint64_t& word : words) word = random();
  for (size_t count = 0; count <= words.size(); count += 101) {
    ASSERT_EQ(Crc32cOfShared(7, words.data(), count), Crc32cPortable(7, words.data(), count * 8));
  }
}

}  // namespace
}  // namespace jankbox
