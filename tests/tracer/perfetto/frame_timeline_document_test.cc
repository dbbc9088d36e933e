// docs/formats/frame_timeline.md against the bytes of a trace, read without any schema: which
// fields there are, under which numbers, and which frame has which values.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tracer/perfetto/frame_timeline.h"

namespace jankbox {
namespace {

using Row = std::vector<std::string>;

// Rows of the table below the heading, without its head.
std::vector<Row> Table(const std::string& heading) {
  std::ifstream file(JANKBOX_SOURCE_DIR "/docs/formats/frame_timeline.md");
  std::vector<Row> rows;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("## ", 0) == 0) inside = line == heading;
    if (!inside || line[0] != '|') continue;
    Row row;
    std::istringstream cells(line.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');) {
      const size_t begin = cell.find_first_not_of(' ');
      const size_t end = cell.find_last_not_of(' ');
      row.push_back(begin == std::string::npos ? "" : cell.substr(begin, end - begin + 1));
    }
    rows.push_back(row);
  }
  rows.erase(rows.begin(), rows.begin() + std::min<ptrdiff_t>(2, std::ssize(rows)));
  return rows;
}

struct Value {
  bool is_bytes = false;
  uint64_t number = 0;
  std::string bytes;
};
using Message = std::multimap<uint32_t, Value>;

uint64_t Varint(std::string_view* in) {
  uint64_t value = 0;
  for (int shift = 0; !in->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(in->front());
    in->remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  ADD_FAILURE() << "a varint is cut";
  return value;
}

Message Parse(std::string_view in) {
  Message message;
  while (!in.empty()) {
    const uint64_t tag = Varint(&in);
    Value value;
    value.is_bytes = (tag & 7) == 2;
    value.number = Varint(&in);
    if (value.is_bytes) {
      value.bytes = in.substr(0, value.number);
      in.remove_prefix(value.bytes.size());
    } else {
      EXPECT_EQ(tag & 7, 0u) << "neither a varint nor bytes";
    }
    message.emplace(static_cast<uint32_t>(tag >> 3), value);
  }
  return message;
}

class FrameTimelineDocument : public testing::Test {
 protected:
  FrameTimelineDocument() {
    for (const Row& row : Table("## Fields")) {
      fields_[row.at(0)][row.at(1)] = static_cast<uint32_t>(std::stoul(row.at(2)));
      if (row.at(3) != "varint") bytes_.insert(row.at(0) + "." + row.at(1));
    }
    for (const Row& row : Table("## Values")) {
      values_[row.at(1)] = std::stoul(row.at(2));
    }
  }

  uint32_t Number(const std::string& message, const std::string& field) {
    EXPECT_EQ(fields_[message].count(field), 1u) << message << "." << field;
    return fields_[message][field];
  }
  uint64_t Get(const Message& in, const std::string& message, const std::string& field) {
    const auto found = in.find(Number(message, field));
    EXPECT_NE(found, in.end()) << message << "." << field << " was not written";
    return found == in.end() ? 0 : found->second.number;
  }

  // Every FrameTimelineEvent of the frames' trace.
  std::vector<Message> Events(const std::vector<TimelineFrame>& frames) {
    std::string trace;
    PacketWriter writer([&](std::string_view piece) {
      trace += piece;
      return Status::Ok();
    });
    WriteFrameTimeline(&writer, {.sequence_id = 2, .pid = 7, .layer_name = "app"}, frames);
    EXPECT_TRUE(writer.Finish().ok());
    std::vector<Message> events;
    for (const auto& [number, packet] : Parse(trace)) {
      EXPECT_EQ(number, 1u);
      for (const auto& [field, value] : Parse(packet.bytes)) {
        if (field == Number("TracePacket", "frame_timeline_event")) {
          events.push_back(Parse(value.bytes));
        }
      }
    }
    return events;
  }
  // What the event `kind` (a field of FrameTimelineEvent) holds; empty if it is another.
  Message Inner(const Message& event, const std::string& kind) {
    const auto found = event.find(Number("FrameTimelineEvent", kind));
    return found == event.end() ? Message() : Parse(found->second.bytes);
  }

  std::map<std::string, std::map<std::string, uint32_t>> fields_;
  std::map<std::string, uint64_t> values_;
  std::set<std::string> bytes_;
};

constexpr uint64_t kVsync = 1'000'000'000, kInterval = 16'666'667;

TimelineFrame Frame(uint64_t vsync_id, uint64_t work_ns) {
  return {.expected_start_ns = kVsync,
          .deadline_ns = kVsync + kInterval,
          .start_ns = kVsync + 500'000,
          .end_ns = kVsync + work_ns,
          .interval_ns = kInterval,
          .vsync_id = vsync_id};
}

TimelineFrame Shown(TimelineFrame frame, uint64_t late_ns) {
  frame.expected_present_ns = kVsync + 2 * kInterval;
  frame.presented_ns = frame.expected_present_ns + late_ns;
  return frame;
}

// The frames of the table "Which frame has which", in its order.
const std::map<std::string, TimelineFrame>& NamedFrames() {
  static const auto* frames = [] {
    auto* named = new std::map<std::string, TimelineFrame>{
        {"done in time, presentation not known", Frame(100, 9'000'000)},
        {"done late by less than an interval, presentation not known", Frame(101, 20'000'000)},
        {"done late by an interval or more, presentation not known", Frame(102, 2 * kInterval)},
        {"done late, shown when it was expected", Shown(Frame(103, 20'000'000), 100'000)},
        {"done late, shown an interval late", Shown(Frame(104, 20'000'000), kInterval)},
        {"done in time, shown an interval late", Shown(Frame(105, 9'000'000), kInterval)},
        {"discarded, never shown", Frame(106, 9'000'000)}};
    (*named)["discarded, never shown"].discarded = true;
    return named;
  }();
  return *frames;
}

TEST_F(FrameTimelineDocument, EveryFieldOfATraceIsInTheTableAndTheOtherWayRound) {
  std::vector<TimelineFrame> frames;
  for (const auto& [name, frame] : NamedFrames()) frames.push_back(frame);
  std::map<std::string, std::set<uint32_t>> seen;
  const std::map<std::string, std::string> kinds = {
      {"expected_surface_frame_start", "ExpectedSurfaceFrameStart"},
      {"actual_surface_frame_start", "ActualSurfaceFrameStart"},
      {"frame_end", "FrameEnd"}};
  for (const Message& event : Events(frames)) {
    ASSERT_EQ(event.size(), 1u);
    for (const auto& [field, message] : kinds) {
      if (event.begin()->first != Number("FrameTimelineEvent", field)) continue;
      seen["FrameTimelineEvent"].insert(event.begin()->first);
      for (const auto& [number, value] : Inner(event, field)) {
        seen[message].insert(number);
        for (const auto& [name, documented] : fields_[message]) {
          if (documented != number) continue;
          EXPECT_EQ(value.is_bytes, bytes_.count(message + "." + name) != 0) << message << name;
        }
      }
    }
  }
  seen["TracePacket"] = {76};
  for (const auto& [message, fields] : fields_) {
    std::set<uint32_t> documented;
    for (const auto& [name, number] : fields) documented.insert(number);
    EXPECT_EQ(seen[message], documented) << message;
  }
  EXPECT_EQ(seen.size(), fields_.size());
}

TEST_F(FrameTimelineDocument, EveryKindOfFrameHasTheTypesOfItsRow) {
  const std::vector<Row> rows = Table("## Which frame has which");
  ASSERT_EQ(rows.size(), NamedFrames().size());
  std::set<uint64_t> present, jank, severity;
  for (const Row& row : rows) {
    ASSERT_EQ(NamedFrames().count(row.at(0)), 1u) << row.at(0);
    const TimelineFrame& frame = NamedFrames().at(row.at(0));
    for (const Message& event : Events({frame})) {
      const Message expected = Inner(event, "expected_surface_frame_start");
      const std::string kActual = "ActualSurfaceFrameStart";
      const Message actual = Inner(event, "actual_surface_frame_start");
      if (!expected.empty()) {
        EXPECT_EQ(Get(expected, "ExpectedSurfaceFrameStart", "token"), frame.vsync_id);
      }
      if (actual.empty()) continue;
      EXPECT_EQ(Get(actual, kActual, "token"), frame.vsync_id);
      EXPECT_EQ(Get(actual, kActual, "display_frame_token"), frame.vsync_id);
      EXPECT_EQ(Get(actual, kActual, "present_type"), values_.at(row.at(1))) << row.at(0);
      EXPECT_EQ(Get(actual, kActual, "jank_type"), values_.at(row.at(2))) << row.at(0);
      EXPECT_EQ(Get(actual, kActual, "on_time_finish"), std::stoul(row.at(3))) << row.at(0);
      EXPECT_EQ(Get(actual, kActual, "jank_severity_type"), values_.at(row.at(4))) << row.at(0);
      EXPECT_EQ(Get(actual, kActual, "prediction_type"), values_.at("PREDICTION_VALID"));
      present.insert(Get(actual, kActual, "present_type"));
      jank.insert(Get(actual, kActual, "jank_type"));
      severity.insert(Get(actual, kActual, "jank_severity_type"));
    }
  }
  // No value of the table is one that no frame has.
  EXPECT_EQ(present.size() + jank.size() + severity.size() + 1, values_.size());
}

TEST_F(FrameTimelineDocument, FramesWithoutAVsyncIdHaveTokensAboveTheHighestOne) {
  const std::vector<TimelineFrame> frames = {Frame(0, 9'000'000), Frame(5000, 9'000'000),
                                             Frame(0, 9'000'000)};
  std::multiset<uint64_t> tokens;
  std::set<uint64_t> cookies;
  for (const Message& event : Events(frames)) {
    for (const char* kind : {"expected_surface_frame_start", "actual_surface_frame_start"}) {
      const Message inner = Inner(event, kind);
      if (inner.empty()) continue;
      tokens.insert(Get(inner, "ExpectedSurfaceFrameStart", "token"));
      cookies.insert(Get(inner, "ExpectedSurfaceFrameStart", "cookie"));
    }
  }
  EXPECT_EQ(tokens, (std::multiset<uint64_t>{5000, 5000, 5001, 5001, 5002, 5002}));
  EXPECT_EQ(cookies.size(), 6u);
}

}  // namespace
}  // namespace jankbox
