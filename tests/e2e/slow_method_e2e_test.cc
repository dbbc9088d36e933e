// Slow methods of a program that is compiled with -finstrument-functions, from the call to the
// report, its trace and the command.
#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/e2e/run_program.h"
#include "tests/perfetto/trace_reader.h"

namespace jankbox {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SlowMethodTest : public EndToEndTest {
 protected:
  // Runs the program with slow methods of 300 ms; `ms` is how long the command takes.
  std::vector<proto::Report> Drive(const std::string& command, unsigned ms,
                                   const std::string& options = "slow_method_ms=300",
                                   const std::string& program = "slow_methods") {
    const Outcome outcome =
        RunProgram({Binary(program), Folder("spool"), command, std::to_string(ms)},
                   {{"JANKBOX_OPTIONS", options}, {"SLOW_METHODS_DIR", Folder("spool")}});
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return Reports(Folder("spool"));
  }
  static double DurationMs(const proto::Report& report) {
    return static_cast<double>(report.duration_ns()) / 1e6;
  }
  testing::TraceContent TraceOf(const proto::Report& report) {
    std::string error;
    const std::string path = Folder("spool") + "/" + report.id() + kReportFileSuffix;
    testing::TraceContent trace = testing::ReadTrace(ReadFile(path, 64 << 20).value(), &error);
    EXPECT_EQ(error, "");
    return trace;
  }
};

// The call around it has nothing left once the inner one is reported.
TEST_F(SlowMethodTest, CallOfTheMainThreadOutsideADispatchIsReportedOnce) {
  const std::vector<proto::Report> reports = Drive("main", 900);
  ASSERT_THAT(reports, SizeIs(1));
  const proto::Report& report = reports[0];
  EXPECT_EQ(report.kind(), proto::SLOW_METHOD);
  EXPECT_EQ(report.revision(), 1u);
  EXPECT_FALSE(report.ongoing());
  EXPECT_EQ(report.what(), "decode_tiles");
  EXPECT_EQ(report.identity().message(), "decode_tiles");
  EXPECT_EQ(report.identity().basis(), "stack");
  EXPECT_EQ(report.identity().blamed_function(), "decode_tiles");
  EXPECT_EQ(report.tid(), report.pid());
  EXPECT_THAT(DurationMs(report), LastsAbout(900));
  EXPECT_EQ(Sum(report.verdict()), report.duration_ns());
  EXPECT_GT(report.verdict().sleeping_ns(), report.duration_ns() / 2);
  ASSERT_GE(report.top_frames_size(), 2);
  EXPECT_EQ(report.top_frames(0).function(), "decode_tiles");
  EXPECT_EQ(report.top_frames(1).function(), "load_level");
  ASSERT_EQ(report.methods_size(), 2);
  EXPECT_EQ(report.methods(1).function(), "decode_tiles");
  EXPECT_EQ(report.methods(1).count(), 1u);
  EXPECT_FALSE(report.methods(1).open());
  EXPECT_TRUE(report.methods(0).open()) << "load_level ended later";
  EXPECT_GT(report.covered_ns(), report.duration_ns() * 99 / 100);
  EXPECT_GT(report.sample_count(), 0u);
  const testing::TraceContent trace = TraceOf(report);
  ASSERT_THAT(trace.triggers, SizeIs(1));
  EXPECT_THAT(trace.slices,
              Contains(::testing::Field(&testing::ReadSlice::name,
                                        ::testing::MatchesRegex("slow method [0-9]+ ms: [0-9]+ % "
                                                                "sleeping, in decode_tiles"))));
  EXPECT_THAT(trace.slices, Contains(::testing::Field(&testing::ReadSlice::name, "decode_tiles")));
}

TEST_F(SlowMethodTest, CommandShowsItAsEveryOtherKind) {
  ASSERT_THAT(Drive("main", 900), SizeIs(1));
  const Outcome list = RunProgram({Binary("jankbox"), "list", Folder("spool")});
  EXPECT_THAT(list.out, HasSubstr("slow method"));
  EXPECT_THAT(list.out, HasSubstr("decode_tiles"));
  const Outcome json = RunProgram({Binary("jankbox"), "list", "--json", Folder("spool")});
  EXPECT_THAT(json.out, HasSubstr("\"slow_method\""));
  const std::string path =
      Folder("spool") + "/" + Reports(Folder("spool"))[0].id() + kReportFileSuffix;
  const Outcome show = RunProgram({Binary("jankbox"), "show", path});
  EXPECT_THAT(show.out, HasSubstr("slow method"));
  EXPECT_THAT(show.out, HasSubstr("decode_tiles"));
}

TEST_F(SlowMethodTest, EachCallIsAnIncidentOfOneFingerprint) {
  const std::vector<proto::Report> every = Drive("repeat", 500, "slow_method_ms=300,repeats=every");
  ASSERT_THAT(every, SizeIs(3));
  std::set<std::string> fingerprints;
  for (const proto::Report& report : every) fingerprints.insert(report.fingerprint());
  EXPECT_THAT(fingerprints, SizeIs(1));
}

TEST_F(SlowMethodTest, RepeatsAreCountedAsThoseOfOtherKinds) {
  ASSERT_THAT(Drive("repeat", 500, "slow_method_ms=300,reports_a_day=1"), SizeIs(1));
}

TEST_F(SlowMethodTest, OnlyCallOfAProgramIsReported) {
  const std::vector<proto::Report> reports = Drive("only_call", 900);
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].kind(), proto::SLOW_METHOD);
  EXPECT_EQ(reports[0].what(), "download");
}

TEST_F(SlowMethodTest, CallThatEndsJustBeforeTheProcessIsReported) {
  const std::vector<proto::Report> reports = Drive("exit", 900);
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].what(), "decode_tiles");
}

TEST_F(SlowMethodTest, WorkersAreReportedOnRequestOnly) {
  EXPECT_THAT(Drive("worker", 900), IsEmpty());
  const std::vector<proto::Report> reports =
      Drive("worker", 900, "slow_method_ms=300,slow_method_threads=all");
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].kind(), proto::SLOW_METHOD);
  EXPECT_EQ(reports[0].what(), "decode_tiles");
  EXPECT_EQ(reports[0].thread(), "worker");
  EXPECT_NE(reports[0].tid(), reports[0].pid());
  EXPECT_THAT(DurationMs(reports[0]), LastsAbout(900));
  EXPECT_EQ(Sum(reports[0].verdict()), reports[0].duration_ns());
  EXPECT_GT(reports[0].verdict().sleeping_ns(), reports[0].duration_ns() / 2);
}

TEST_F(SlowMethodTest, ZeroAndNoneAreOff) {
  EXPECT_THAT(Drive("main", 900, "slow_method_ms=0"), IsEmpty());
  EXPECT_THAT(Drive("main", 900, "slow_method_ms=none"), IsEmpty());
}

TEST_F(SlowMethodTest, DefaultIsThatOfMatrix) {
  EXPECT_THAT(Drive("main", 200, ""), IsEmpty());
  EXPECT_THAT(Drive("main", 900, ""), SizeIs(1));
}

// Long enough for a poll of the watcher on any machine.
TEST_F(SlowMethodTest, CallsWithDispatchesAndWaitsForEventsAreNone) {
  for (const char* command : {"dispatch", "in_dispatch", "loop", "queue"}) {
    EXPECT_THAT(Drive(command, 2000, "slow_method_ms=300,slow_method_threads=all"), IsEmpty())
        << command;
  }
}

TEST_F(SlowMethodTest, MainFunctionsOfThreadsAreNone) {
  const std::string all = "slow_method_ms=300,slow_method_threads=all";
  EXPECT_THAT(Drive("main_function", 900, all), IsEmpty());
  EXPECT_THAT(Drive("main_sleeps", 900, all, "slow_methods_early"), IsEmpty())
      << "main() is recorded here";
  EXPECT_THAT(Drive("main", 900, all, "slow_methods_early"), SizeIs(1));
}

TEST_F(SlowMethodTest, JankboxRunReportsIt) {
  Environment environment = ForeignEnvironment();
  environment["JANKBOX_OPTIONS"] = "slow_method_ms=300";
  const Outcome run = RunProgram({Binary("jankbox"), "run", "--dir", Folder("run"), "--",
                                  Binary("slow_methods"), Folder("spool"), "main", "900"},
                                 environment);
  EXPECT_EQ(run.exit_status, 0) << run.err;
  const std::vector<proto::Report> reports = Reports(Folder("run"));
  ASSERT_THAT(reports, SizeIs(1)) << run.err;
  EXPECT_EQ(reports[0].kind(), proto::SLOW_METHOD);
  EXPECT_EQ(reports[0].what(), "decode_tiles");
  EXPECT_THAT(run.err, HasSubstr("slow method"));
}

}  // namespace
}  // namespace jankbox
