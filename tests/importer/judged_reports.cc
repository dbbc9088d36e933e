#include "tests/importer/judged_reports.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/importer/trace_judge.h"

namespace jankbox {

using ::testing::IsEmpty;
using testing::Judgement;
using testing::TraceContent;

void JudgedReportsTest::SetUp() {
  EndToEndTest::SetUp();
  if (const std::string why = testing::WhyNoJudge(); !why.empty()) GTEST_SKIP() << why;
}

std::string JudgedReportsTest::Export(const std::string& sealed) const {
  const std::string plain = Folder("exported.pftrace");
  const Outcome outcome = RunProgram({Binary("jankbox"), "export", sealed, "--force", "-o", plain});
  EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
  return plain;
}

std::map<proto::Kind, TraceContent> JudgedReportsTest::JudgeAll() const {
  std::map<proto::Kind, TraceContent> traces;
  for (const proto::Report& report : Reports(Folder("spool"))) {
    const std::string kind = proto::Kind_Name(report.kind());
    const std::string sealed = Folder("spool") + "/" + report.id() + kReportFileSuffix;
    const std::string plain = Export(sealed);
    const Judgement judgement =
        testing::JudgeTrace(plain, ReadFile(sealed, size_t{64} << 20).value());
    EXPECT_THAT(judgement.objections, IsEmpty()) << kind << " " << plain;
    traces[report.kind()] = judgement.content;
  }
  return traces;
}

TraceContent JudgedReportsTest::JudgeWith(proto::Kind kind) const {
  const std::map<proto::Kind, TraceContent> traces = JudgeAll();
  const auto found = traces.find(kind);
  EXPECT_NE(found, traces.end()) << "no report of kind " << proto::Kind_Name(kind);
  return found == traces.end() ? TraceContent() : found->second;
}

}  // namespace jankbox
