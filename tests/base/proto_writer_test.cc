#include "base/proto_writer.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

TEST(ProtoWriter, VarintsAndBytesMatchTheWireFormat) {
  std::string out;
  ProtoWriter writer(&out);
  writer.Varint(1, 150);
  writer.Bytes(2, "testing");
  writer.Bool(3, true);
  EXPECT_EQ(out, std::string("\x08\x96\x01\x12\x07testing\x18\x01", 14));
}

TEST(ProtoWriter, NegativeIntTakesTenBytes) {
  std::string out;
  ProtoWriter(&out).Int(1, -1);
  EXPECT_EQ(out, std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11));
}

TEST(ProtoWriter, DoubleIsEightBytesFromTheLeastSignificantOn) {
  std::string out;
  ProtoWriter(&out).Double(5, 551.5);
  EXPECT_EQ(out, std::string("\x29\x00\x00\x00\x00\x00\x3c\x81\x40", 9));
}

TEST(ProtoWriter, MessageLengthCountsItsContent) {
  std::string out;
  ProtoWriter(&out).Message(1, [](ProtoWriter& inner) { inner.Bytes(2, std::string(300, 'x')); });
  // 303 bytes of content, its length as a four-byte varint.
  EXPECT_EQ(out.substr(0, 5), std::string("\x0a\xaf\x82\x80\x00", 5));
  EXPECT_EQ(out.size(), 5u + 303u);
}

}  // namespace
}  // namespace jankbox
