// Frames of real programs: a Wayland client under Weston, SDL and GTK programs that know nothing of
// Jankbox's frames under Xvfb. What is reported is what the display said and what was planted.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/e2e/run_program.h"
#include "tests/perfetto/trace_reader.h"

namespace jankbox {
namespace {

constexpr uint32_t kOnTime = 1, kLate = 2, kDropped = 4;  // PresentType

class FrameTest : public EndToEndTest {
 protected:
  testing::TraceContent Trace(const proto::Report& report) {
    std::string error;
    const std::string path = Folder("spool") + "/" + report.id() + kReportFileSuffix;
    testing::TraceContent trace = testing::ReadTrace(ReadFile(path, 64 << 20).value(), &error);
    EXPECT_EQ(error, "");
    return trace;
  }
  static std::vector<proto::Report> OfKind(const std::vector<proto::Report>& reports,
                                           proto::Kind kind) {
    std::vector<proto::Report> found;
    for (const proto::Report& report : reports) {
      if (report.kind() == kind) found.push_back(report);
    }
    return found;
  }
};

class WaylandTest : public FrameTest {
 protected:
  void SetUp() override {
    FrameTest::SetUp();
    ASSERT_EQ(mkdir(Folder("run").c_str(), 0700), 0);
    environment_ = {{"XDG_RUNTIME_DIR", Folder("run")}, {"WAYLAND_DISPLAY", "jankbox-test"}};
    weston_ = std::make_unique<Program>(
        std::vector<std::string>{"/usr/bin/weston", "--backend=headless-backend.so",
                                 "--socket=jankbox-test", "--no-config", "--idle-time=0",
                                 "--log=" + Folder("weston.log")},
        environment_);
    for (int i = 0; i < 200 && access((Folder("run") + "/jankbox-test").c_str(), F_OK) != 0; ++i) {
      usleep(50'000);
    }
    ASSERT_EQ(access((Folder("run") + "/jankbox-test").c_str(), F_OK), 0) << "Weston is not there";
  }
  void TearDown() override {
    weston_->Signal(SIGTERM);
    weston_->Wait(10'000);
    FrameTest::TearDown();
  }

  std::map<std::string, std::string> environment_;
  std::unique_ptr<Program> weston_;
};

// What wp_presentation said of one frame.
struct Said {
  bool presented = false;
  uint64_t begin_ns = 0;
  uint64_t presented_ns = 0;
  bool late = false;
  bool close = false;  // to the border: two readings of a clock may part it
};

std::vector<Said> ReadSaid(const std::string& output) {
  std::vector<Said> frames;
  uint64_t last_ns = 0;
  std::istringstream lines(output);
  for (std::string word; lines >> word;) {
    Said frame;
    frame.presented = word == "presented";
    lines >> frame.begin_ns;
    if (frame.presented) {
      uint64_t refresh_ns = 0;
      lines >> frame.presented_ns >> refresh_ns;
      // A frame that follows another is late once 1.75 intervals are between them; one after an
      // idle gap, once it took three.
      const bool follows = last_ns != 0 && frame.begin_ns <= last_ns + refresh_ns;
      const uint64_t border_ns =
          follows ? last_ns + refresh_ns / 4 * 7 : frame.begin_ns + 3 * refresh_ns;
      const uint64_t shown_ns = frame.presented_ns;
      frame.late = shown_ns >= border_ns;
      frame.close = std::max(shown_ns, border_ns) - std::min(shown_ns, border_ns) < 100'000;
      last_ns = shown_ns;
    }
    frames.push_back(frame);
  }
  // As the trace has them: a discarded frame is reported before or after the one that replaced it.
  std::sort(frames.begin(), frames.end(),
            [](const Said& a, const Said& b) { return a.begin_ns < b.begin_ns; });
  return frames;
}

std::vector<proto::Report> LongestFirst(std::vector<proto::Report> jank) {
  std::sort(jank.begin(), jank.end(), [](const proto::Report& one, const proto::Report& other) {
    return one.janky_frame().total_ns() > other.janky_frame().total_ns();
  });
  return jank;
}

TEST_F(WaylandTest, PresentedLateAndDiscardedFramesAreThoseOfPresentationTime) {
  constexpr int kFrames = 100, kSlowFrame = 20, kAfterIdle = 40;
  const Outcome outcome = RunProgram(
      {Binary("wayland_frames"), Folder("spool"), std::to_string(kFrames)}, environment_);
  ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const std::vector<Said> said = ReadSaid(outcome.out);
  ASSERT_EQ(said.size(), static_cast<size_t>(kFrames));
  const std::vector<proto::Report> reports = Reports(Folder("spool"));
  const std::vector<proto::Report> manual = OfKind(reports, proto::MANUAL);
  ASSERT_EQ(manual.size(), 1u);
  EXPECT_EQ(manual[0].frame_source(), "presentation-time");

  // Each frame of the trace is one that was said, in the order of their begins.
  std::vector<testing::ReadSurfaceFrame> actual;
  for (const testing::ReadSurfaceFrame& frame : Trace(manual[0]).frames) {
    if (frame.actual) actual.push_back(frame);
  }
  ASSERT_EQ(actual.size(), said.size());
  uint64_t late = 0, discarded = 0, close = 0;
  std::vector<uint32_t> types, wanted;
  for (size_t i = 0; i < said.size(); ++i) {
    late += said[i].late ? 1 : 0;
    close += said[i].close ? 1 : 0;
    discarded += said[i].presented ? 0 : 1;
    if (said[i].close) continue;
    types.push_back(actual[i].present_type);
    wanted.push_back(!said[i].presented ? kDropped : said[i].late ? kLate : kOnTime);
  }
  EXPECT_EQ(types, wanted);
  EXPECT_GE(discarded, 3u);  // a burst of four is one image
  EXPECT_TRUE(said[kSlowFrame].late);
  EXPECT_LE(close, 5u);
  EXPECT_EQ(actual[kSlowFrame].jank_type, 64);  // the app's deadline was missed
  EXPECT_FALSE(actual[kSlowFrame].on_time_finish);
  EXPECT_EQ(said[kAfterIdle].begin_ns - said[kAfterIdle - 1].begin_ns > 2'000'000'000, true);

  ASSERT_EQ(manual[0].scenes_size(), 1);
  const proto::SceneFrames& scene = manual[0].scenes(0);
  EXPECT_EQ(scene.scene(), "Frames");
  EXPECT_EQ(scene.frames(), said.size());
  EXPECT_EQ(scene.discarded(), discarded);
  EXPECT_NEAR(static_cast<double>(scene.presented_late()), static_cast<double>(late),
              static_cast<double>(close));
  EXPECT_EQ(scene.interval_ns(), 16'666'666u);
  ASSERT_EQ(manual[0].states_size(), 1);
  EXPECT_EQ(manual[0].states(0).value(), "Frames");

  // The frame that computed for 205 ms is the incident; two idle seconds are none.
  const std::vector<proto::Report> jank = LongestFirst(OfKind(reports, proto::JANK));
  ASSERT_GE(jank.size(), 1u);  // a busy machine may hold others up
  EXPECT_LT(jank[0].janky_frame().total_ns(), 2'000'000'000u);
  EXPECT_GE(jank[0].frame_dropped(), 11u);
  EXPECT_EQ(jank[0].frame_dropped(),
            jank[0].janky_frame().total_ns() / jank[0].frame_interval_ns() - 1);
  EXPECT_EQ(jank[0].frame_source(), "presentation-time");
}

class HiddenDisplayTest : public FrameTest {
 protected:
  // Runs an unmodified program under a display of its own. Late frames of a busy machine are
  // possible; of three runs one has to be as planted.
  void Run(const std::string& program, std::map<std::string, std::string> environment = {}) {
    for (const auto& [name, value] : ForeignEnvironment()) environment[name] = value;
    const Outcome outcome = RunProgram(
        {"/usr/bin/xvfb-run", "-a", "-s", "-screen 0 640x480x24 +extension GLX", Binary("jankbox"),
         "run", "--quiet", "--slow-ms", "4000", "--dir", Folder("spool"), "--", Binary(program)},
        environment);
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
  }
  // The only incident: the frame of 205 ms, and not the two idle seconds. Empty if it is so.
  std::string Differs(const std::string& source) {
    const std::vector<proto::Report> reports = Reports(Folder("spool"));
    if (reports.size() != 1) return std::to_string(reports.size()) + " reports";
    const proto::Report& jank = reports[0];
    const double intervals = static_cast<double>(jank.janky_frame().total_ns()) /
                             static_cast<double>(jank.frame_interval_ns());
    if (jank.kind() != proto::JANK) return "kind " + std::to_string(jank.kind());
    if (jank.frame_source() != source) return "source " + jank.frame_source();
    if (jank.frame_dropped() != static_cast<uint32_t>(intervals) - 1 || jank.frame_dropped() < 11 ||
        jank.frame_dropped() > 13) {
      return std::to_string(jank.frame_dropped()) + " dropped";
    }
    if (jank.janky_frame().band() != "middle") return "band " + jank.janky_frame().band();
    return "";
  }
  void ExpectOneJank(const std::string& program, const std::string& source,
                     const std::map<std::string, std::string>& environment = {}) {
    std::string differs = "not run";
    for (int attempt = 0; attempt < 3 && !differs.empty(); ++attempt) {
      ASSERT_EQ(RunProgram({"/bin/rm", "-rf", Folder("spool")}).exit_status, 0);
      ASSERT_NO_FATAL_FAILURE(Run(program, environment));
      differs = Differs(source);
    }
    EXPECT_EQ(differs, "");
  }
};

TEST_F(HiddenDisplayTest, SdlFrameOf205MsIsOneJankAndAnIdleGapIsNone) {
  ExpectOneJank("sdl_frames", "sdl");
}

TEST_F(HiddenDisplayTest, SdlFrameByGlIsCountedOnceThoughItSwapsInTheDriver) {
  ExpectOneJank("sdl_frames", "sdl", {{"FRAMES_BY_GL", "1"}});
}

TEST_F(HiddenDisplayTest, GtkFrameOf205MsIsOneJankAndAnIdleGapIsNone) {
  ExpectOneJank("gtk_frames", "gtk");
  const std::vector<proto::Report> reports = Reports(Folder("spool"));
  ASSERT_EQ(reports.size(), 1u);
  const proto::JankyFrame& frame = reports[0].janky_frame();
  EXPECT_GE(frame.traversal_ns(), 190'000'000u);  // it draws for that long
  EXPECT_GT(frame.vsync_id(), 0u);
}

TEST_F(HiddenDisplayTest, SourcesThatAreTurnedOffAreNot) {
  Run("gtk_frames", {{"JANKBOX_OPTIONS", "frame_sources='sdl,swap'"}});
  EXPECT_EQ(Reports(Folder("spool")).size(), 0u);
}

}  // namespace
}  // namespace jankbox
