// Incidents as an app sees them: listeners, plugins, repeats, and what was extra in the bad
// message.
#include <algorithm>

#include "tests/e2e/run_program.h"

namespace jankbox {
namespace {

class IncidentTest : public EndToEndTest {
 protected:
  void Drive(const std::vector<std::string>& more = {}) {
    std::vector<std::string> argv = {Binary("incident_driver"), Folder("spool")};
    argv.insert(argv.end(), more.begin(), more.end());
    outcome_ = RunProgram(argv);
    ASSERT_EQ(outcome_.exit_status, 0) << outcome_.err;
    reports_ = Reports(Folder("spool"));
  }
  std::vector<proto::Report> OfKind(proto::Kind kind) const {
    std::vector<proto::Report> found;
    std::copy_if(reports_.begin(), reports_.end(), std::back_inserter(found),
                 [kind](const proto::Report& report) { return report.kind() == kind; });
    return found;
  }
  static uint64_t Refused(const proto::Report& report, const std::string& reason) {
    for (const proto::Refusal& refusal : report.refusals()) {
      if (refusal.reason() == reason) return refusal.count();
    }
    return 0;
  }
  size_t Told(const std::string& line) const {
    size_t count = 0;
    for (size_t at = outcome_.out.find(line); at != std::string::npos;
         at = outcome_.out.find(line, at + 1)) {
      ++count;
    }
    return count;
  }

  Outcome outcome_;
  std::vector<proto::Report> reports_;
};

TEST_F(IncidentTest, ReportSaysWhatWasExtraAndWhatTheAppAdded) {
  Drive();
  const std::vector<proto::Report> slow = OfKind(proto::SLOW_MESSAGE);
  ASSERT_GE(slow.size(), 1u);
  const proto::Report& first = slow[0];
  EXPECT_EQ(first.exemplar(), "first");
  EXPECT_EQ(first.repeat_count(), 1u);
  EXPECT_GE(first.healthy_messages(), 4u);  // of six that are none, if the machine is busy
  EXPECT_LT(first.healthy_median_ns(), 200'000'000u);
  ASSERT_GE(first.extra_size(), 1);
  EXPECT_EQ(first.extra(0).function(), "Decode");
  EXPECT_EQ(first.extra(0).usual_ns(), 0u);
  EXPECT_GE(first.extra(0).extra_ns(), 599'000'000u);
  ASSERT_EQ(first.methods_size(), 2);
  EXPECT_EQ(first.methods(0).function(), "Bind");
  EXPECT_EQ(first.methods(1).function(), "Decode");
  ASSERT_EQ(first.attributes_size(), 1);
  EXPECT_EQ(first.attributes(0).key(), "screen");
  EXPECT_EQ(first.attributes(0).value(), "Feed");
  EXPECT_NE(std::find(first.notes().begin(), first.notes().end(), "Plugins: disk-watch."),
            first.notes().end());
}

TEST_F(IncidentTest, RepeatsAreReportedToListenersAndCounted) {
  Drive();
  EXPECT_EQ(Told("incident kind 1, click in Decode"), 3u);
  EXPECT_EQ(Told("incident kind 9, import in"), 1u);
  EXPECT_EQ(Told("incident kind 7, end in"), 1u);
  const std::vector<proto::Report> manual = OfKind(proto::MANUAL);
  ASSERT_EQ(manual.size(), 1u);
  EXPECT_EQ(OfKind(proto::SLOW_MESSAGE).size() + Refused(manual[0], "fingerprint"), 3u);
  ASSERT_EQ(OfKind(proto::CUSTOM).size(), 1u);
  EXPECT_EQ(OfKind(proto::CUSTOM)[0].duration_ns(), 50'000'000u);
  EXPECT_EQ(Told("disk-watch init\ndisk-watch start\n"), 1u);
  EXPECT_EQ(Told("disk-watch stop\n"), 1u);
}

TEST_F(IncidentTest, VetoLeavesNoReport) {
  Drive({"veto"});
  EXPECT_TRUE(OfKind(proto::SLOW_MESSAGE).empty());
  const std::vector<proto::Report> manual = OfKind(proto::MANUAL);
  ASSERT_EQ(manual.size(), 1u);
  EXPECT_EQ(Refused(manual[0], "veto"), 3u);
}

TEST_F(IncidentTest, RenderWorkOfEveryThreadIsNamed) {
  Drive({"render"});
  const std::vector<proto::Report> slow = OfKind(proto::SLOW_MESSAGE);
  ASSERT_EQ(slow.size(), 1u);
  ASSERT_EQ(slow[0].render_work_size(), 2) << slow[0].ShortDebugString();
  const proto::RenderWork& layout = slow[0].render_work(0);
  EXPECT_EQ(layout.name(), "layout: list");
  EXPECT_EQ(layout.tid(), slow[0].tid());
  EXPECT_EQ(layout.count(), 3u);
  EXPECT_GE(layout.duration_ns(), 450'000'000u);
  EXPECT_LE(layout.duration_ns(), slow[0].duration_ns());  // the inner one counts once
  const proto::RenderWork& upload = slow[0].render_work(1);
  EXPECT_EQ(upload.name(), "upload texture: atlas");
  EXPECT_NE(upload.tid(), slow[0].tid());
  EXPECT_EQ(upload.count(), 2u);
  EXPECT_GE(upload.duration_ns(), 20'000'000u);
  EXPECT_FALSE(upload.open());
  EXPECT_EQ(Told("frame in render/layout: list"), 1u);
}

}  // namespace
}  // namespace jankbox
