// Traces with markers, and an app's trace joined with a capture of the kernel.
#include <gmock/gmock.h>

#include <fstream>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/e2e/tracefs_instance.h"
#include "tests/importer/judged_reports.h"
#include "tests/importer/trace_judge.h"

namespace jankbox {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using testing::Judgement;
using testing::TraceContent;

class ImporterMergeTest : public JudgedReportsTest {
 protected:
  void SetUp() override {
    JudgedReportsTest::SetUp();
    if (!IsSkipped() && !kernel_.missing().empty()) {
      GTEST_SKIP() << "no tracefs: " << kernel_.missing();
    }
  }

  TracefsInstance kernel_;
};

TEST_F(ImporterMergeTest, MarkersOfEveryKind) {
  const Outcome outcome =
      RunProgram({Binary("marker_writer"), "kinds", kernel_.Path("trace_marker")},
                 {{"JANKBOX_DIR", Folder("spool")}, {"JANKBOX_OPTIONS", "markers=pass_on"}});
  ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
  const TraceContent content = JudgeWith(proto::MANUAL);
  EXPECT_THAT(content.counters, SizeIs(2));
  EXPECT_THAT(content.instants, Not(IsEmpty()));
}

TEST_F(ImporterMergeTest, AppJoinedWithACaptureOfTheKernel) {
  ASSERT_TRUE(kernel_.Write("trace_clock", "mono"));
  ASSERT_TRUE(kernel_.Write("buffer_size_kb", "8192"));
  ASSERT_TRUE(kernel_.Write("events/sched/sched_switch/enable", "1"));
  ASSERT_TRUE(kernel_.Write("events/sched/sched_waking/enable", "1"));
  const Outcome outcome =
      RunProgram({Binary("marker_driver"), Folder("spool"), kernel_.Path("trace_marker")});
  ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
  ASSERT_TRUE(kernel_.Write("tracing_on", "0"));
  std::ofstream(Folder("trace.txt")) << std::ifstream(kernel_.Path("trace")).rdbuf();
  const std::vector<proto::Report> reports = Reports(Folder("spool"));
  ASSERT_THAT(reports, SizeIs(1));
  const std::string sealed = Folder("spool") + "/" + reports[0].id() + kReportFileSuffix;
  const std::string both = Folder("both.pftrace");
  const Outcome merged = RunProgram({Binary("jankbox"), "merge", "--app", sealed, "--system",
                                     Folder("trace.txt"), "-o", both});
  ASSERT_EQ(merged.exit_status, 0) << merged.err;
  const Judgement judgement = testing::JudgeTrace(
      both, ReadFile(both, size_t{256} << 20).value(), testing::Switches::kSome);
  EXPECT_THAT(judgement.objections, IsEmpty());
  EXPECT_THAT(judgement.content.sched, Not(IsEmpty()));
  EXPECT_THAT(judgement.content.wakings, Not(IsEmpty()));
}

}  // namespace
}  // namespace jankbox
