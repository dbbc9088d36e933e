#include "tracer/perfetto/packet_writer.h"

#include <gtest/gtest.h>

#include "tests/perfetto/trace.pb.h"

namespace jankbox {
namespace {

TEST(PacketWriter, PacketLargerThanTheBufferArrivesWholeInPieces) {
  std::string out;
  size_t largest_piece = 0;
  PacketWriter writer([&](std::string_view piece) {
    out += piece;
    largest_piece = std::max(largest_piece, piece.size());
    return Status::Ok();
  });
  const std::string name(200'000, 'n');
  for (int i = 0; i < 3; ++i) {
    writer.Packet([&](ProtoWriter& packet) {
      packet.Message(60, [&](ProtoWriter& track) { track.Bytes(2, name); });
    });
  }
  EXPECT_TRUE(writer.Finish().ok());
  EXPECT_EQ(writer.bytes(), out.size());
  EXPECT_EQ(largest_piece, PacketWriter::kBufferBytes);
  testproto::Trace trace;
  ASSERT_TRUE(trace.ParseFromString(out));
  ASSERT_EQ(trace.packet_size(), 3);
  for (const auto& packet : trace.packet()) EXPECT_EQ(packet.track_descriptor().name(), name);
}

TEST(PacketWriter, ReserveKeepsRoomForAPacket) {
  std::string out;
  PacketWriter writer([&](std::string_view piece) {
    out += piece;
    return Status::Ok();
  });
  std::string expected;
  for (size_t i = 0; i < 1000; ++i) {
    uint8_t* at = writer.Reserve();
    const size_t size = i % PacketWriter::kMaxReserveBytes;
    for (size_t k = 0; k < size; ++k) at[k] = static_cast<uint8_t>(i);
    writer.Commit(at + size);
    expected.append(size, static_cast<char>(i));
  }
  EXPECT_TRUE(writer.Finish().ok());
  EXPECT_EQ(out, expected);
}

TEST(PacketWriter, FirstErrorSticksAndEndsOutput) {
  int calls = 0;
  PacketWriter writer([&](std::string_view) {
    ++calls;
    return Status(StatusCode::kNoSpace, "full");
  });
  const std::string name(100'000, 'n');
  for (int i = 0; i < 3; ++i) {
    writer.Packet([&](ProtoWriter& packet) { packet.Bytes(60, name); });
  }
  EXPECT_EQ(writer.Finish().code(), StatusCode::kNoSpace);
  EXPECT_EQ(calls, 1);
}

TEST(WriteVarint, WritesWhatProtobufReads) {
  for (uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{16383},
                         uint64_t{16384}, uint64_t{1} << 63, UINT64_MAX}) {
    uint8_t bytes[16] = {8 << 3};
    const uint8_t* end = WriteVarint(bytes + 1, value);
    testproto::TracePacket packet;
    ASSERT_TRUE(packet.ParseFromArray(bytes, static_cast<int>(end - bytes)));
    EXPECT_EQ(packet.timestamp(), value);
  }
}

}  // namespace
}  // namespace jankbox
