#include "base/checked_bytes.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

TEST(CheckedBytes, LayoutIsMagicChecksumContent) {
  EXPECT_EQ(AddChecksum("MAGIC", "123456789"),
            "MAGIC\x83\x92\x06\xe3"
            "123456789");  // RFC 3720
}

TEST(CheckedBytes, WholeContentComesBack) {
  EXPECT_EQ(CheckedContent("M1", AddChecksum("M1", "content")), "content");
  EXPECT_EQ(CheckedContent("M1", AddChecksum("M1", "")), "");
}

TEST(CheckedBytes, CutFlippedAndForeignBytesAreRefused) {
  const std::string bytes = AddChecksum("M1", "content");
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(CheckedContent("M1", bytes.substr(0, length)), std::nullopt) << length;
  }
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(CheckedContent("M1", damaged), std::nullopt) << bit;
  }
  EXPECT_EQ(CheckedContent("M2", bytes), std::nullopt);
}

}  // namespace
}  // namespace jankbox
