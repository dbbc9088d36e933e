#include "sdk/linux/jvmti/bytecode_scan.h"

#include <gtest/gtest.h>

#include <vector>

namespace jankbox {
namespace {

std::optional<size_t> Scan(const std::vector<uint8_t>& code) {
  return IndexAfterFirstFieldWrite(code);
}

// EventQueue.setCurrentEventAndMostRecentTimeImpl() of OpenJDK 17, up to the first constant.
const std::vector<uint8_t> kSetCurrentEvent = {
    0x2a, 0xb4, 0x00, 0x65, 0xb9, 0x00, 0x82, 0x01, 0x00, 0xb2, 0x01, 0x8d, 0x9a,
    0x00, 0x17, 0xb8, 0x00, 0x1b, 0x2a, 0xb4, 0x00, 0x8c, 0xa5, 0x00, 0x0d, 0x2a,
    0xb4, 0x00, 0x65, 0xb9, 0x00, 0x89, 0x01, 0x00, 0xb1, 0x2a, 0xbb, 0x01, 0x95,
    0x59, 0x2b, 0xb7, 0x02, 0x13, 0xb5, 0x01, 0x90, 0x14, 0x02, 0x19, 0x41};

TEST(BytecodeScan, PlaceIsAfterTheFirstFieldWrite) { EXPECT_EQ(Scan(kSetCurrentEvent), 47u); }

// A breakpoint there would change the operand of an instruction.
TEST(BytecodeScan, OperandThatLooksLikeAWriteIsNone) {
  EXPECT_EQ(Scan({0x10, 0xb5, 0x2a, 0xb5, 0x00, 0x01, 0xb1}), 6u);
  EXPECT_EQ(Scan({0x10, 0xb5, 0xb1}), std::nullopt);
}

TEST(BytecodeScan, InstructionOfUnknownLengthEndsTheSearch) {
  for (const uint8_t opcode : {0xaa, 0xab, 0xc4, 0xca, 0xff}) {
    EXPECT_EQ(Scan({opcode, 0x00, 0xb5, 0x00, 0x01, 0xb1}), std::nullopt) << int{opcode};
  }
}

TEST(BytecodeScan, CutCodeHasNoPlace) {
  for (size_t bytes = 0; bytes <= 47; ++bytes) {
    EXPECT_EQ(Scan({kSetCurrentEvent.begin(), kSetCurrentEvent.begin() + bytes}), std::nullopt)
        << bytes;
  }
}

}  // namespace
}  // namespace jankbox
