#include "diagnosis/seal/frame_report.h"

#include <gmock/gmock.h>

#include "tests/fakes/fake_window.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kMs = kNsPerMs;
constexpr uint64_t kOffset = 3 * kNsPerSecond;

class FrameReportTest : public testing::Test {
 protected:
  FrameReportTest() {
    source_.clock = FakeClock(kOffset);
    request_.begin_ns = 1000 * kMs;
    request_.end_ns = 2000 * kMs;
  }
  FrameEvent& Janky(uint64_t from_ms, uint64_t to_ms, const std::string& scene = "") {
    JankyFrame janky;
    janky.frame.vsync_ns = from_ms * kMs;
    janky.frame.start_ns = (from_ms + 5) * kMs;
    janky.frame.end_ns = to_ms * kMs;
    janky.frame.interval_ns = 10 * kMs;
    janky.frame.source = FrameSource::kGtk;
    janky.scene = scene;
    source_.frames.janky.push_back(janky);
    return source_.frames.janky.back().frame;
  }
  void State(const char* key, uint64_t from_ms, uint64_t to_ms) {
    source_.states.push_back({key, "value", from_ms * kMs, to_ms * kMs});
  }
  Report Describe() {
    Report report;
    DescribeFrames(source_, request_, &report);
    return report;
  }
  std::vector<std::string> States() {
    std::vector<std::string> keys;
    for (const ReportState& state : Describe().states) keys.push_back(state.key);
    return keys;
  }

  ReportSource source_;
  SealRequest request_;
};

TEST_F(FrameReportTest, WithoutFramesNothingIsSaid) {
  const Report report = Describe();
  EXPECT_EQ(report.frame_source, "");
  EXPECT_EQ(report.janky_frame.total_ns, 0u);
  EXPECT_THAT(report.scenes, IsEmpty());
}

TEST_F(FrameReportTest, FrameOfTheIncidentIsDescribed) {
  FrameEvent& frame = Janky(1100, 1400, "Checkout");
  frame.vsync_id = 77;
  frame.deadline_ns = 1150 * kMs;
  frame.phase_ns[static_cast<size_t>(FramePhase::kTraversal)] = 200 * kMs;
  const Report report = Describe();
  EXPECT_EQ(report.frame_source, "gtk");
  EXPECT_EQ(report.janky_frame.vsync_id, 77u);
  EXPECT_EQ(report.janky_frame.total_ns, 300 * kMs);
  EXPECT_EQ(report.janky_frame.jitter_ns, 5 * kMs);
  EXPECT_EQ(report.janky_frame.deadline_overrun_ns, 250 * kMs);
  EXPECT_EQ(report.janky_frame.traversal_ns, 200 * kMs);
  EXPECT_EQ(report.janky_frame.scene, "Checkout");
  EXPECT_EQ(report.janky_frame.presented_late_ns, 0u);
}

TEST_F(FrameReportTest, BandIsThatOfTheDroppedTime) {
  const std::pair<uint64_t, const char*> bands[] = {
      {20, "best"}, {70, "normal"}, {170, "middle"}, {450, "high"}, {750, "frozen"}};
  for (const auto& [length_ms, band] : bands) {
    source_.frames.janky.clear();
    Janky(1100, 1100 + length_ms);
    EXPECT_EQ(Describe().janky_frame.band, band) << length_ms;
  }
}

TEST_F(FrameReportTest, LongestFrameOfTheIncidentIsTheOne) {
  Janky(1100, 1200).vsync_id = 1;
  Janky(1300, 1600).vsync_id = 2;
  Janky(1700, 1800).vsync_id = 3;
  EXPECT_EQ(Describe().janky_frame.vsync_id, 2u);
}

TEST_F(FrameReportTest, FramesBesideTheIncidentAreNotItsOwn) {
  Janky(500, 1000).vsync_id = 1;   // ended as it began
  Janky(2000, 2900).vsync_id = 2;  // began as it ended
  EXPECT_EQ(Describe().janky_frame.total_ns, 0u);
  Janky(900, 1001).vsync_id = 3;
  EXPECT_EQ(Describe().janky_frame.vsync_id, 3u);
}

TEST_F(FrameReportTest, FrameThatWasShownLateSaysByHowMuch) {
  FrameEvent& frame = Janky(1100, 1120);
  frame.expected_present_ns = 1130 * kMs;
  frame.presented_ns = 1290 * kMs;
  frame.fate = FrameFate::kPresented;
  EXPECT_EQ(Describe().janky_frame.presented_late_ns, 160 * kMs);
}

TEST_F(FrameReportTest, ScenesAreOnBoottimeAndInTheirOrder) {
  NamedSceneFrames checkout{"Checkout", {}};
  checkout.frames.from_ns = 100 * kMs;
  checkout.frames.to_ns = 900 * kMs;
  checkout.frames.frames = 48;
  checkout.frames.dropped = 5;
  checkout.frames.janky = 2;
  checkout.frames.frozen = 1;
  checkout.frames.fps_milli = 59'900;
  checkout.frames.bands[4] = 1;
  checkout.frames.p90_ns = 30 * kMs;
  checkout.frames.source = FrameSource::kTimer;
  source_.frames.scenes = {checkout, {"Home", {}}};
  source_.frames.lost = 9;
  const Report report = Describe();
  ASSERT_THAT(report.scenes, SizeIs(2));
  EXPECT_EQ(report.scenes[0].scene, "Checkout");
  EXPECT_EQ(report.scenes[0].from_ns, 100 * kMs + kOffset);
  EXPECT_EQ(report.scenes[0].to_ns, 900 * kMs + kOffset);
  EXPECT_EQ(report.scenes[0].frames, 48u);
  EXPECT_EQ(report.scenes[0].dropped, 5u);
  EXPECT_EQ(report.scenes[0].janky, 2u);
  EXPECT_EQ(report.scenes[0].above_700_ms, 1u);
  EXPECT_EQ(report.scenes[0].fps_milli, 59'900u);
  EXPECT_EQ(report.scenes[0].frozen, 1u);
  EXPECT_EQ(report.scenes[0].p90_ns, 30 * kMs);
  EXPECT_EQ(report.scenes[0].source, "timer");
  EXPECT_EQ(report.frame_source, "timer") << "of the latest scene, where no frame is the cause";
  EXPECT_EQ(report.uncounted_frames, 9u);
}

TEST_F(FrameReportTest, StatesThatHeldDuringTheIncidentAreTold) {
  State("before", 100, 999);
  State("until its begin", 100, 1000);
  State("into it", 100, 1001);
  State("within", 1200, 1300);
  State("since its end", 2000, 0);
  State("after", 2001, 0);
  State("over it", 100, 5000);
  State("still", 100, 0);
  EXPECT_THAT(States(), ElementsAre("into it", "within", "since its end", "over it", "still"));
}

TEST_F(FrameReportTest, StateThatHeldBeyondTheIncidentHasNoEnd) {
  State("ended", 100, 1500);
  State("still", 100, 0);
  State("over it", 100, 5000);
  const Report report = Describe();
  ASSERT_THAT(report.states, SizeIs(3));
  EXPECT_EQ(report.states[0].from_ns, 100 * kMs + kOffset);
  EXPECT_EQ(report.states[0].to_ns, 1500 * kMs + kOffset);
  EXPECT_EQ(report.states[1].to_ns, 0u);
  EXPECT_EQ(report.states[2].to_ns, 0u) << "what comes after the report is not known to it";
}

}  // namespace
}  // namespace jankbox
