#include "tracer/perfetto/frame_timeline.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/perfetto/trace.pb.h"

namespace jankbox {
namespace {

testproto::Trace Written(const std::vector<TimelineFrame>& frames) {
  std::string out;
  PacketWriter writer([&](std::string_view piece) {
    out += piece;
    return Status::Ok();
  });
  WriteFrameTimeline(&writer, {.sequence_id = 2, .pid = 7, .layer_name = "app"}, frames);
  EXPECT_TRUE(writer.Finish().ok());
  testproto::Trace trace;
  EXPECT_TRUE(trace.ParseFromString(out));
  return trace;
}

TEST(FrameTimeline, NoFramesMakeNoPackets) { EXPECT_EQ(Written({}).packet_size(), 0); }

TEST(FrameTimeline, OverlappingFramesAreInOrderAndEachEdgeHasItsPair) {
  std::mt19937 random(1);
  std::vector<TimelineFrame> frames;
  for (uint64_t i = 0; i < 200; ++i) {
    const uint64_t vsync = 1000 + i * 16;
    frames.push_back({vsync, vsync + 16, vsync + random() % 5, vsync + 4 + random() % 60});
    if (i % 10 == 0) frames.back().end_ns = frames.back().start_ns;  // empty
  }
  const testproto::Trace trace = Written(frames);
  ASSERT_EQ(trace.packet_size(), 800);
  uint64_t last = 0;
  std::map<int64_t, uint64_t> open;  // by cookie: begin
  for (const testproto::TracePacket& packet : trace.packet()) {
    EXPECT_GE(packet.timestamp(), last);
    EXPECT_EQ(packet.timestamp_clock_id(), 6u);
    last = packet.timestamp();
    const testproto::FrameTimelineEvent& event = packet.frame_timeline_event();
    if (event.has_frame_end()) {
      ASSERT_EQ(open.erase(event.frame_end().cookie()), 1u);
    } else if (event.has_expected_surface_frame_start()) {
      const auto& start = event.expected_surface_frame_start();
      ASSERT_TRUE(open.emplace(start.cookie(), packet.timestamp()).second);
      EXPECT_EQ(packet.timestamp(),
                frames[static_cast<size_t>(start.token()) - 1].expected_start_ns);
    } else {
      const auto& start = event.actual_surface_frame_start();
      const TimelineFrame& frame = frames[static_cast<size_t>(start.token()) - 1];
      ASSERT_TRUE(open.emplace(start.cookie(), packet.timestamp()).second);
      EXPECT_EQ(packet.timestamp(), frame.start_ns);
      EXPECT_EQ(start.on_time_finish(), frame.end_ns <= frame.deadline_ns);
      EXPECT_EQ(start.jank_type(), frame.end_ns <= frame.deadline_ns ? 1 : 64);
    }
  }
  EXPECT_TRUE(open.empty());
}

}  // namespace
}  // namespace jankbox
