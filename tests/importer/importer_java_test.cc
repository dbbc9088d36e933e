// The trace of a Java program, with the Java calls of its event thread, as trace_processor takes
// it.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/importer/judged_reports.h"

namespace jankbox {
namespace {

using ImporterJavaTest = JudgedReportsTest;

TEST_F(ImporterJavaTest, EventThreadWithJavaCalls) {
  Environment environment;
  if (!StartDisplay(&environment)) GTEST_SKIP() << "there is no Xvfb";
  environment["JANKBOX_TEST_SPOOL"] = Folder("spool");  // it ends after its report
  const Outcome outcome =
      RunProgram({Binary("jankbox"), "run", "--slow-ms", "500", "--java", "--dir", Folder("spool"),
                  "--", JANKBOX_TEST_JAVA, "-cp", JANKBOX_TEST_CLASSES, "SwingStalls", "busy"},
                 environment);
  if (outcome.err.find("HeadlessException") != std::string::npos) {
    GTEST_SKIP() << "this Java VM is headless";
  }
  ASSERT_EQ(outcome.exit_status, 7) << outcome.err;  // as without Jankbox
  const testing::TraceContent content = JudgeWith(proto::SLOW_MESSAGE);
  EXPECT_TRUE(std::any_of(content.slices.begin(), content.slices.end(), [](const auto& slice) {
    return slice.name == "SwingStalls.sortForever";
  }));
}

}  // namespace
}  // namespace jankbox
