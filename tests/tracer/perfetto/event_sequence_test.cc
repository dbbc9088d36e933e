#include "tracer/perfetto/event_sequence.h"

#include <gtest/gtest.h>

#include "tests/perfetto/trace.pb.h"

namespace jankbox {
namespace {

constexpr uint64_t kTrack = 0x0200'0001'0000'0007;

// Packets that `write(sequence)` makes, the first one included.
template <typename Write>
testproto::Trace Written(EventSequence::Options options, Write&& write) {
  std::string out;
  PacketWriter writer([&](std::string_view piece) {
    out += piece;
    return Status::Ok();
  });
  options.clock_reading = {.monotonic_ns = 900, .boottime_ns = 1000, .realtime_ns = 5000};
  EventSequence sequence(&writer, options);
  write(sequence);
  EXPECT_TRUE(writer.Finish().ok());
  testproto::Trace trace;
  EXPECT_TRUE(trace.ParseFromString(out));
  return trace;
}

TEST(EventSequence, FirstPacketClearsStateAndDeclaresItsClock) {
  const testproto::Trace trace =
      Written({.sequence_id = 9, .default_track_uuid = kTrack, .unit_ns = 128},
              [](EventSequence& sequence) { sequence.Start(12'801); });
  ASSERT_EQ(trace.packet_size(), 1);
  const testproto::TracePacket& packet = trace.packet(0);
  EXPECT_EQ(packet.trusted_packet_sequence_id(), 9u);
  EXPECT_EQ(packet.sequence_flags(), 1u);
  EXPECT_TRUE(packet.first_packet_on_sequence());
  EXPECT_EQ(packet.trace_packet_defaults().timestamp_clock_id(), 64u);
  EXPECT_EQ(packet.trace_packet_defaults().track_event_defaults().track_uuid(), kTrack);
  ASSERT_EQ(packet.clock_snapshot().clocks_size(), 4);
  EXPECT_EQ(packet.clock_snapshot().clocks(0).timestamp(), 12'800u);  // BOOTTIME, whole units
  EXPECT_EQ(packet.clock_snapshot().clocks(1).timestamp(), 12'700u);
  EXPECT_EQ(packet.clock_snapshot().clocks(2).timestamp(), 16'800u);
  EXPECT_EQ(packet.clock_snapshot().clocks(3).timestamp(), 100u);
  EXPECT_TRUE(packet.clock_snapshot().clocks(3).is_incremental());
  EXPECT_EQ(packet.clock_snapshot().clocks(3).unit_multiplier_ns(), 128u);
}

TEST(EventSequence, EventsCarryDeltasAndNeverGoBack) {
  const testproto::Trace trace =
      Written({.sequence_id = 300, .default_track_uuid = kTrack}, [](EventSequence& sequence) {
        sequence.Start(1000);
        const uint64_t name = sequence.AddName("load");
        sequence.Begin(1010, Category::kMethod, name);
        sequence.End(1005);
        sequence.End(1'000'000);
      });
  ASSERT_EQ(trace.packet_size(), 5);
  EXPECT_EQ(trace.packet(1).interned_data().event_names(0).name(), "load");
  EXPECT_EQ(trace.packet(2).track_event().type(), testproto::TrackEvent::TYPE_SLICE_BEGIN);
  EXPECT_EQ(trace.packet(2).track_event().name_iid(),
            trace.packet(1).interned_data().event_names(0).iid());
  EXPECT_EQ(trace.packet(2).track_event().category_iids(0), 1u);
  EXPECT_EQ(trace.packet(2).timestamp(), 10u);
  EXPECT_EQ(trace.packet(3).track_event().type(), testproto::TrackEvent::TYPE_SLICE_END);
  EXPECT_EQ(trace.packet(3).timestamp(), 0u);
  EXPECT_EQ(trace.packet(4).timestamp(), 1'000'000u - 1010u);
  for (int i = 1; i < 5; ++i) {
    EXPECT_EQ(trace.packet(i).trusted_packet_sequence_id(), 300u);
    EXPECT_EQ(trace.packet(i).sequence_flags(), 2u);
  }
}

TEST(EventSequence, WidestEventIsWhole) {
  const std::string_view annotations[] = {"12345678901234567890123456789012", "began_before_window",
                                          "end_lost", "begin_lost"};
  const testproto::Trace trace = Written({.sequence_id = UINT32_MAX}, [&](EventSequence& sequence) {
    sequence.Start(0);
    sequence.Write(UINT64_MAX >> 2, {.type = perfetto::TrackEventType::kCounter,
                                     .track_uuid = UINT64_MAX,
                                     .category = Category::kAsync,
                                     .name_iid = UINT64_MAX,
                                     .counter_value = INT64_MIN,
                                     .annotations = annotations});
  });
  ASSERT_EQ(trace.packet_size(), 2);
  const testproto::TrackEvent& event = trace.packet(1).track_event();
  EXPECT_EQ(trace.packet(1).timestamp(), UINT64_MAX >> 2);
  EXPECT_EQ(trace.packet(1).trusted_packet_sequence_id(), UINT32_MAX);
  EXPECT_EQ(event.track_uuid(), UINT64_MAX);
  EXPECT_EQ(event.name_iid(), UINT64_MAX);
  EXPECT_EQ(event.counter_value(), INT64_MIN);
  ASSERT_EQ(event.debug_annotations_size(), 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(event.debug_annotations(i).name(), annotations[i]);
    EXPECT_TRUE(event.debug_annotations(i).bool_value());
  }
}

}  // namespace
}  // namespace jankbox
