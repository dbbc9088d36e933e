#include "report/proto_reader.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/proto_writer.h"

namespace jankbox {
namespace {

std::vector<ProtoField> Fields(std::string_view message, bool* complete) {
  ProtoReader reader(message);
  std::vector<ProtoField> fields;
  ProtoField field;
  while (reader.Next(&field)) fields.push_back(field);
  *complete = reader.complete();
  return fields;
}

bool Reads(std::string_view message) {
  bool complete = false;
  Fields(message, &complete);
  return complete;
}

std::string SampleMessage() {
  std::string bytes;
  ProtoWriter out(&bytes);
  out.Varint(1, UINT64_MAX);
  out.Bytes(2, "text");
  // field 536,870,911, fixed64
  bytes += std::string("\xf9\xff\xff\xff\x0f\x88\x77\x66\x55\x44\x33\x22\x11", 13);
  out.Int(4, -1);
  bytes += std::string("\x2d\x04\x03\x02\x01", 5);  // field 5, fixed32
  return bytes;
}

TEST(ProtoReader, ReadsWhatTheWriterWrote) {
  const std::string message = SampleMessage();
  bool complete = false;
  const std::vector<ProtoField> fields = Fields(message, &complete);
  EXPECT_TRUE(complete);
  ASSERT_EQ(fields.size(), 5u);
  EXPECT_EQ(fields[0].value, UINT64_MAX);
  EXPECT_FALSE(fields[0].is_bytes);
  EXPECT_EQ(fields[1].bytes, "text");
  EXPECT_TRUE(fields[1].is_bytes);
  EXPECT_EQ(fields[2].number, 536'870'911u);
  EXPECT_EQ(fields[2].value, 0x1122334455667788u);
  EXPECT_EQ(static_cast<int64_t>(fields[3].value), -1);
  EXPECT_EQ(fields[4].value, 0x01020304u);
}

TEST(ProtoReader, CutAtEveryByteReadsWholeFieldsOnly) {
  const std::string message = SampleMessage();
  bool complete = false;
  const size_t whole = Fields(message, &complete).size();
  for (size_t length = 0; length < message.size(); ++length) {
    const std::string cut = message.substr(0, length);  // its own buffer, for the sanitizer
    EXPECT_LT(Fields(cut, &complete).size(), whole) << length;
  }
}

TEST(ProtoReader, EmptyMessageIsComplete) { EXPECT_TRUE(Reads("")); }

TEST(ProtoReader, MalformedMessagesAreRefused) {
  const std::string cases[] = {
      std::string("\x00\x01", 2),  // field 0
      std::string("\x0b", 1),      // group
      std::string("\x0c", 1),      // end of group
      std::string("\x0e\x01", 2),  // wire type 6
      std::string("\x0a\x05"
                  "abc",
                  5),                                                       // length beyond the end
      std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11),      // length 2^64-1
      std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11),      // 65 bits
      std::string("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 12),  // eleven bytes
      std::string("\xf8\xff\xff\xff\xff\x01\x01", 7),                       // field above 2^29
      std::string("\x09\x01\x02", 3),                                       // cut fixed64
  };
  for (const std::string& message : cases) EXPECT_FALSE(Reads(message)) << message.size();
}

TEST(ProtoReader, StaysAtTheFirstMalformedByte) {
  ProtoReader reader("\x0b\x08\x01");
  ProtoField field;
  EXPECT_FALSE(reader.Next(&field));
  EXPECT_FALSE(reader.Next(&field));
  EXPECT_FALSE(reader.complete());
}

}  // namespace
}  // namespace jankbox
