// Traces with markers, and an app's trace joined with a capture of the kernel, as trace_processor
// takes them.
#include <gmock/gmock.h>

#include <fstream>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/e2e/tracefs_instance.h"
#include "tests/importer/judged_reports.h"
#include "tests/importer/trace_judge.h"
#include "tests/tools/merge/capture_texts.h"
#include "tests/tools/sealed_report.h"

namespace jankbox {
namespace {

using ::testing::IsEmpty;
using testing::Judgement;
using ::testing::Not;
using ::testing::SizeIs;
using testing::TraceContent;

class ImporterMergeTest : public JudgedReportsTest {
 protected:
  // Joins a report with the file "capture" and has the result judged; returns what it has.
  TraceContent JudgeMerged(const std::string& sealed) const {
    const std::string both = Folder("both.pftrace");
    const Outcome merged = RunProgram(
        {Binary("jankbox"), "merge", "--app", sealed, "--system", Folder("capture"), "-o", both});
    EXPECT_EQ(merged.exit_status, 0) << merged.err;
    if (merged.exit_status != 0) return {};
    const Judgement judgement = testing::JudgeTrace(both, ReadFile(both, size_t{256} << 20).value(),
                                                    testing::Switches::kSome);
    EXPECT_THAT(judgement.objections, IsEmpty());
    return judgement.content;
  }
};

TEST_F(ImporterMergeTest, MarkersOfEveryKind) {
  const TracefsInstance kernel;
  if (!kernel.missing().empty()) GTEST_SKIP() << "no tracefs: " << kernel.missing();
  const Outcome outcome =
      RunProgram({Binary("marker_writer"), "kinds", kernel.Path("trace_marker")},
                 {{"JANKBOX_DIR", Folder("spool")}, {"JANKBOX_OPTIONS", "markers=pass_on"}});
  ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
  const TraceContent content = JudgeWith(proto::MANUAL);
  EXPECT_THAT(content.counters, SizeIs(2));
  EXPECT_THAT(content.instants, Not(IsEmpty()));
}

TEST_F(ImporterMergeTest, AppAndTheKernelsText) {
  const TracefsInstance kernel;
  if (!kernel.missing().empty()) GTEST_SKIP() << "no tracefs: " << kernel.missing();
  ASSERT_TRUE(kernel.Write("trace_clock", "mono"));
  ASSERT_TRUE(kernel.Write("buffer_size_kb", "8192"));
  ASSERT_TRUE(kernel.Write("events/sched/sched_switch/enable", "1"));
  ASSERT_TRUE(kernel.Write("events/sched/sched_waking/enable", "1"));
  const Outcome outcome =
      RunProgram({Binary("marker_driver"), Folder("spool"), kernel.Path("trace_marker")});
  ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
  ASSERT_TRUE(kernel.Write("tracing_on", "0"));
  std::ofstream(Folder("capture")) << std::ifstream(kernel.Path("trace")).rdbuf();
  const std::vector<proto::Report> reports = Reports(Folder("spool"));
  ASSERT_THAT(reports, SizeIs(1));
  const TraceContent content =
      JudgeMerged(Folder("spool") + "/" + reports[0].id() + kReportFileSuffix);
  EXPECT_THAT(content.sched, Not(IsEmpty()));
  EXPECT_THAT(content.wakings, Not(IsEmpty()));
}

TEST_F(ImporterMergeTest, AppAndAPerfettoTrace) {
  proto::Report report = tools::SampleReport(1);
  report.set_os("Linux 6.1.0 x86_64");
  const std::string sealed =
      tools::SealReportFile(root_, report, tools::AppTraceByHand().SerializeAsString());
  std::ofstream(Folder("capture"), std::ios::binary)
      << tools::PerfettoCapture().SerializeAsString();
  EXPECT_THAT(JudgeMerged(sealed).slices, SizeIs(5));
}

}  // namespace
}  // namespace jankbox
