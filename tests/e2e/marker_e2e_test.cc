// What a program writes to a real trace_marker, in our trace and in the kernel's.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/e2e/run_program.h"
#include "tests/e2e/tracefs_instance.h"
#include "tests/perfetto/trace_reader.h"

namespace jankbox {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MarkerTest : public EndToEndTest {
 protected:
  void SetUp() override {
    EndToEndTest::SetUp();
    if (!instance_.missing().empty()) GTEST_SKIP() << "no tracefs: " << instance_.missing();
  }
  // The trace of the report that `marker_writer kinds` asked for.
  testing::TraceContent Kinds(const std::string& markers) {
    const Outcome outcome =
        RunProgram({Binary("marker_writer"), "kinds", instance_.Path("trace_marker")},
                   {{"JANKBOX_DIR", Folder("spool")}, {"JANKBOX_OPTIONS", "markers=" + markers}});
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    for (const proto::Report& report : Reports(Folder("spool"))) {
      if (report.what() == "markers") report_ = report;
    }
    const std::string path = Folder("spool") + "/" + report_.id() + kReportFileSuffix;
    std::string error;
    testing::TraceContent trace = testing::ReadTrace(ReadFile(path, 64 << 20).value(), &error);
    EXPECT_EQ(error, "");
    return trace;
  }
  std::string Results(const std::string& on, const std::string& markers) {
    const Outcome outcome =
        RunProgram({Binary("marker_writer"), "results", instance_.Path("trace_marker"), on},
                   {{"JANKBOX_DIR", Folder("spool")}, {"JANKBOX_OPTIONS", "markers=" + markers}});
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    return outcome.out;
  }

  TracefsInstance instance_;
  proto::Report report_;
};

const testing::ReadSlice* Find(const testing::TraceContent& trace, const std::string& name) {
  for (const testing::ReadSlice& slice : trace.slices) {
    if (slice.name == name) return &slice;
  }
  ADD_FAILURE() << "no slice " << name;
  static const testing::ReadSlice none;
  return &none;
}

void ExpectAllKinds(const testing::TraceContent& trace, int32_t pid) {
  EXPECT_EQ(Find(trace, "around")->depth, 0u);
  EXPECT_EQ(Find(trace, "slice")->depth, 1u);
  EXPECT_EQ(Find(trace, "slice")->tid, pid);
  EXPECT_EQ(Find(trace, "slice")->category, "atrace");
  EXPECT_EQ(Find(trace, "in pieces")->depth, 2u);
  EXPECT_EQ(Find(trace, std::string(996, 'x'))->depth, 2u);
  EXPECT_EQ(Find(trace, "async")->track, "async");
  EXPECT_EQ(Find(trace, "on a lane")->track, "lane");
  EXPECT_NE(Find(trace, "of the thread")->tid, pid);
  EXPECT_EQ(trace.threads.at(Find(trace, "of the thread")->tid), "marker-thread");
  EXPECT_EQ(Find(trace, "where atrace may not write")->tid, pid);
  std::vector<std::string> instants;
  for (const testing::ReadInstant& instant : trace.instants) {
    if (instant.category == "atrace") instants.push_back(instant.name);  // threads have theirs
  }
  EXPECT_THAT(instants, ::testing::UnorderedElementsAre("instant", "on it", "beside it"));
  std::vector<int64_t> values;
  for (const testing::ReadCounter& counter : trace.counters) {
    if (counter.name == "counter") values.push_back(counter.value);
  }
  EXPECT_THAT(values, ::testing::ElementsAre(-42, 43));
  for (const testing::ReadSlice& slice : trace.slices) {
    EXPECT_TRUE(slice.flags.empty()) << slice.name << " " << *slice.flags.begin();
  }
}

TEST_F(MarkerTest, EveryKindIsInOurTraceAndInTheKernels) {
  const testing::TraceContent trace = Kinds("pass_on");
  ExpectAllKinds(trace, report_.pid());
  EXPECT_EQ(report_.losses().unmatched_ends(), 0u);
  EXPECT_EQ(report_.losses().repaired_slices(), 0u);
  const std::string kernel = instance_.Trace();
  for (const char* text :
       {"B|1|slice", "I|1|instant", "N|1|a track|on it", "C|1|counter|-42", "C|1|counter|43",
        "S|1|async|7", "G|1|lane|on a lane|8", "B|1|in pieces", "I|1|beside it", "H|1|lane|8",
        "F|1|async|7", "E|1", "not a marker", "B|1|of the thread", "I|1|after the stop"}) {
    EXPECT_THAT(kernel, HasSubstr(std::string("tracing_mark_write: ") + text + "\n"));
  }
  EXPECT_THAT(kernel, HasSubstr("B|1|" + std::string(996, 'x') + "\n"));
}

TEST_F(MarkerTest, KeptOnesNeverReachTheKernelUntilTheStop) {
  const testing::TraceContent trace = Kinds("keep");
  ExpectAllKinds(trace, report_.pid());
  const std::string kernel = instance_.Trace();
  EXPECT_THAT(kernel, Not(HasSubstr("B|1|slice")));
  EXPECT_THAT(kernel, Not(HasSubstr("C|1|counter")));
  EXPECT_THAT(kernel, HasSubstr("B|1|in pieces"));  // the kernel checks pieces first
  EXPECT_THAT(kernel, HasSubstr("not a marker"));
  EXPECT_THAT(kernel, HasSubstr("I|1|after the stop"));
}

TEST_F(MarkerTest, LeftAloneTheyAreTheKernelsOnly) {
  const testing::TraceContent trace = Kinds("off");
  EXPECT_TRUE(std::none_of(trace.slices.begin(), trace.slices.end(),
                           [](const auto& slice) { return slice.category == "atrace"; }));
  EXPECT_THAT(instance_.Trace(), HasSubstr("B|1|slice"));
}

TEST_F(MarkerTest, ResultsAndErrnoAreTheSameWithAndWithoutUs) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "bad buffers, which AddressSanitizer finds before the kernel does";
#endif
  const std::string without = Results("off", "");
  EXPECT_GE(std::count(without.begin(), without.end(), '\n'), 1000);
  EXPECT_EQ(Results("on", "pass_on"), without);
}

}  // namespace
}  // namespace jankbox
