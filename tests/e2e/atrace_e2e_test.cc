// A program with Android's own atrace library: its tags while Jankbox records, and its markers in
// our trace and in the kernel's.
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/e2e/run_program.h"
#include "tests/e2e/tracefs_instance.h"
#include "tests/perfetto/trace_reader.h"
#include "tests/tracer/atrace/real_cutils.h"

namespace jankbox {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAutoTags = "0x596f";  // always gfx input view wm am audio hal app dalvik

class AtraceTest : public EndToEndTest {
 protected:
  using Environment = std::map<std::string, std::string>;

  std::vector<std::string> Command(const std::string& library, const std::string& mode = "") {
    std::vector<std::string> command = {Binary("atrace_program"), library,
                                        instance_.Path("trace_marker")};
    if (!mode.empty()) command.push_back(mode);
    return command;
  }
  Environment With(Environment environment) {
    environment["JANKBOX_DIR"] = Folder("spool");
    return environment;
  }
  // What the program prints with Debian's library, whose markers are empty.
  std::string Tags(const Environment& environment, const std::string& mode = "") {
    const Outcome outcome = RunProgram(Command(JANKBOX_TEST_LIBCUTILS, mode), With(environment));
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    return outcome.out;
  }
  proto::Report MarkersReport() {
    for (const proto::Report& report : Reports(Folder("spool"))) {
      if (report.what() == "markers") return report;
    }
    ADD_FAILURE() << "no report";
    return proto::Report();
  }

  TracefsInstance instance_;
};

std::string Told(const char* before, const char* during, const char* after) {
  return std::string("before ") + before + "\nduring " + during + "\nafter " + after + "\n";
}

TEST_F(AtraceTest, TagsAreOnWhileItRecordsAndNoLonger) {
  EXPECT_EQ(Tags({}), Told("0x0", kAutoTags, "0x0"));
  const proto::Atrace atrace = MarkersReport().atrace();
  EXPECT_EQ(atrace.tags(), 0x596fu);
  EXPECT_EQ(atrace.added_tags(), 0x596fu);
  EXPECT_EQ(atrace.categories(), "always gfx input view wm am audio hal app dalvik");
  EXPECT_EQ(atrace.library(), "libcutils.so.0");
  EXPECT_GT(atrace.start_ns(), 0u);
}

TEST_F(AtraceTest, TheOptionSaysWhich) {
  EXPECT_EQ(Tags({{"JANKBOX_OPTIONS", "atrace='view,res'"}}), Told("0x0", "0x2009", "0x0"));
  EXPECT_EQ(Tags({{"JANKBOX_OPTIONS", "atrace=0x100496e"}}), Told("0x0", "0x100496f", "0x0"));
}

TEST_F(AtraceTest, OffLeavesThemAlone) {
  EXPECT_EQ(Tags({{"JANKBOX_OPTIONS", "atrace=off"}}), Told("0x0", "0x0", "0x0"));
  EXPECT_FALSE(MarkersReport().has_atrace());
  EXPECT_EQ(Tags({{"JANKBOX_OPTIONS", "markers=off"}}), Told("0x0", "0x0", "0x0"))
      << "nobody would record what they turn on";
}

TEST_F(AtraceTest, WhatMakesNoSenseIsIgnoredByName) {
  const auto error = [this](const std::string& options) {
    const Outcome outcome =
        RunProgram(Command(JANKBOX_TEST_LIBCUTILS), With({{"JANKBOX_OPTIONS", options}}));
    EXPECT_EQ(outcome.exit_status, 0);
    EXPECT_EQ(outcome.out, Told("0x0", kAutoTags, "0x0"));
    return outcome.err;
  };
  EXPECT_THAT(error("atrace='gfx,viwe'"), HasSubstr("\"viwe\" is not a category"));
  EXPECT_THAT(error("atrace=../gfx"), HasSubstr("\"../gfx\" is not a category"));
  EXPECT_THAT(error("properties_file=/tmp/../etc/passwd"), HasSubstr("without \"..\""));
  EXPECT_THAT(error("properties_file=properties"), HasSubstr("absolute path"));
}

TEST_F(AtraceTest, ASecondOwnersTagsSurvive) {
  EXPECT_EQ(Tags({}, "other"), Told("0x0", kAutoTags, "0x400"));
  const proto::Atrace atrace = MarkersReport().atrace();
  const bool mounted = access("/sys/kernel/tracing/trace_marker", F_OK) == 0;
  EXPECT_EQ(atrace.state(), mounted ? "on" : "on without marker file");
}

TEST_F(AtraceTest, PropertiesAreFollowedWhileItRuns) {
  const std::string file = Folder("properties");
  const auto write = [&](const std::string& properties) {
    std::ofstream(file + ".new") << properties;
    std::filesystem::rename(file + ".new", file);  // read as it was, or as it is
  };
  write("debug.atrace.tags.enableflags=0x400\n");
  Program program(Command(JANKBOX_TEST_LIBCUTILS, "follow"),
                  With({{"JANKBOX_OPTIONS", "atrace=view,properties_file=" + file}}));
  EXPECT_TRUE(program.WaitForOutput("during 0x409\n", 10000));
  write("debug.atrace.tags.enableflags=0x800\ndebug.atrace.app_number=1\ndebug.atrace.app_0=" +
        Binary("atrace_program") + "\n");
  EXPECT_TRUE(program.WaitForOutput("now 0x1809\n", 10000));
  write("debug.atrace.tags.enableflags=gfx\n");
  EXPECT_TRUE(program.WaitForOutput("now 0x9\n", 10000));
  write("debug.atrace.tags.enableflags=0x4000000\n");
  const Outcome outcome = program.Wait(20000);
  EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "before 0x0\nduring 0x409\nnow 0x1809\nnow 0x9\nnow 0x4000009\nafter 0x0\n");
}

TEST_F(AtraceTest, PropertiesMayBeInTheEnvironment) {
  EXPECT_EQ(Tags({{"debug.atrace.tags.enableflags", "0x2000"}, {"JANKBOX_OPTIONS", "atrace=view"}}),
            Told("0x0", "0x2009", "0x0"));
}

// AOSP's own markers, as devices have them.
class AtraceMarkerTest : public AtraceTest, public ::testing::WithParamInterface<WriteImport> {
 protected:
  void SetUp() override {
    AtraceTest::SetUp();
    if (!instance_.missing().empty()) GTEST_SKIP() << "no tracefs: " << instance_.missing();
    cutils_ = BuildRealCutils(GetParam());
    if (!cutils_.why_not.empty()) GTEST_SKIP() << cutils_.why_not;
  }
  testing::TraceContent Trace() {
    const std::string path = Folder("spool") + "/" + MarkersReport().id() + kReportFileSuffix;
    std::string error;
    testing::TraceContent trace = testing::ReadTrace(ReadFile(path, 64 << 20).value(), &error);
    EXPECT_EQ(error, "");
    return trace;
  }
  RealCutils cutils_;
};

INSTANTIATE_TEST_SUITE_P(Imports, AtraceMarkerTest,
                         ::testing::Values(WriteImport::kWrite, WriteImport::kWriteChk),
                         [](const auto& import) {
                           return import.param == WriteImport::kWrite ? "Write" : "WriteChk";
                         });

TEST_P(AtraceMarkerTest, AreInOurTraceWhileTheirTagIsOn) {
  const Outcome outcome = RunProgram(Command(cutils_.path), With({}));
  ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, Told("0x1", kAutoTags, "0x1"));
  SCOPED_TRACE(outcome.err);
  const testing::TraceContent trace = Trace();
  std::vector<std::string> slices;
  for (const testing::ReadSlice& slice : trace.slices) {
    if (slice.category == "atrace") slices.push_back(slice.track + "/" + slice.name);
    EXPECT_TRUE(slice.flags.empty()) << slice.name;
  }
  EXPECT_THAT(slices, ::testing::UnorderedElementsAre("/during", "load/load"));
  std::map<std::string, int64_t> values;
  for (const testing::ReadCounter& counter : trace.counters) {
    if (counter.name == "frames" || counter.name == "bytes") values[counter.name] = counter.value;
  }
  EXPECT_THAT(values, ::testing::ElementsAre(::testing::Pair("bytes", int64_t{1} << 40),
                                             ::testing::Pair("frames", -8)));
  const std::string kernel = instance_.Trace();
  EXPECT_THAT(kernel, HasSubstr("|during\n"));
  EXPECT_THAT(kernel, HasSubstr("|frames|-8\n"));
  EXPECT_THAT(kernel, HasSubstr("|the kernel's only\n"));
  EXPECT_THAT(kernel, Not(HasSubstr("|before\n")));
  EXPECT_THAT(kernel, Not(HasSubstr("|after\n")));
}

TEST_P(AtraceMarkerTest, AreNotWrittenWhereAtraceIsOff) {
  const Outcome outcome =
      RunProgram(Command(cutils_.path), With({{"JANKBOX_OPTIONS", "atrace=off"}}));
  ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, Told("0x1", "0x1", "0x1"));
  EXPECT_THAT(instance_.Trace(), Not(HasSubstr("|during\n")));
}

}  // namespace
}  // namespace jankbox
