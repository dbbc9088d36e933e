// The C surface from a real host program, through to a trace read back by an independent reader.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <set>
#include <sstream>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/e2e/run_program.h"
#include "tests/perfetto/trace_reader.h"

namespace jankbox {
namespace {

class SdkTest : public EndToEndTest {
 protected:
  // Runs the driver with `command`; expects success.
  void Drive(const std::vector<std::string>& command,
             const std::map<std::string, std::string>& environment = {}) {
    std::vector<std::string> argv = {Binary("sdk_driver"), Folder("spool")};
    argv.insert(argv.end(), command.begin(), command.end());
    const Outcome outcome = RunProgram(argv, environment);
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    out_ = outcome.out;
    reports_ = Reports(Folder("spool"));
  }
  // The trace of the only report, read strictly.
  testing::TraceContent Trace() {
    std::string error;
    const std::string path = Folder("spool") + "/" + reports_.at(0).id() + kReportFileSuffix;
    testing::TraceContent trace = testing::ReadTrace(ReadFile(path, 64 << 20).value(), &error);
    EXPECT_EQ(error, "");
    return trace;
  }
  // For a planted sleep. On a busy machine the thread also waits for a CPU after it.
  static void ExpectSleep(const proto::Report& report) {
    const proto::Verdict& verdict = report.verdict();
    EXPECT_GT(verdict.sleeping_ns() + verdict.runnable_ns(), report.duration_ns() * 8 / 10);
    EXPECT_GT(verdict.sleeping_ns(), report.duration_ns() / 2);
  }
  static int Count(const testing::TraceContent& trace, const std::string& name) {
    return static_cast<int>(
        std::count_if(trace.slices.begin(), trace.slices.end(),
                      [&](const testing::ReadSlice& slice) { return slice.name == name; }));
  }

  std::string out_;
  std::vector<proto::Report> reports_;
};

TEST_F(SdkTest, H16ThirdStartAfterTwoThatAbortedHasNoHooksAndSaysSo) {
  const std::vector<std::string> driver = {Binary("sdk_driver"), Folder("spool")};
  auto run = [&](const char* command) { return RunProgram({driver[0], driver[1], command}); };
  for (int start = 0; start < 2; ++start) {
    const Outcome outcome = run("abort");
    EXPECT_EQ(outcome.signal, SIGABRT);
    EXPECT_EQ(outcome.err, "") << start;
  }
  const Outcome third = run("slices");
  EXPECT_EQ(third.exit_status, 0);
  EXPECT_NE(third.err.find("the last 2 starts died within 2 s of their installation"),
            std::string::npos);
  const std::vector<proto::Report> reports = Reports(Folder("spool"));
  const auto manual = std::find_if(reports.begin(), reports.end(), [](const proto::Report& report) {
    return report.kind() == proto::MANUAL;
  });
  ASSERT_NE(manual, reports.end());
  EXPECT_TRUE(std::any_of(
      manual->notes().begin(), manual->notes().end(),
      [](const std::string& note) { return note.find("hooks are off") != std::string::npos; }));
  const Outcome doctor = RunProgram({Binary("jankbox"), "doctor", "--dir", Folder("spool")});
  EXPECT_NE(doctor.out.find("off in sdk_driver"), std::string::npos) << doctor.out;
  unlink((Folder("spool") + "/.starts-sdk_driver").c_str());
  EXPECT_EQ(run("slices").err, "");
}

TEST_F(SdkTest, SnapshotHasExactlyWhatWasRecorded) {
  Drive({"slices"});
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0].kind(), proto::MANUAL);
  EXPECT_EQ(reports_[0].what(), "asked for by the test");
  EXPECT_EQ(reports_[0].app_version(), "1.2.3");
  const testing::TraceContent trace = Trace();
  EXPECT_EQ(trace.process_name, "sdk_driver");
  EXPECT_EQ(trace.pid, reports_[0].pid());
  EXPECT_EQ(trace.threads.count(trace.pid), 1u);
  EXPECT_EQ(Count(trace, "slices message"), 1);
  EXPECT_EQ(Count(trace, "outer"), 1);
  EXPECT_EQ(Count(trace, "inner"), 10);
  EXPECT_EQ(Count(trace, "scoped_in_c"), 1);
  EXPECT_EQ(Count(trace, "download"), 1);
  ASSERT_EQ(Count(trace, "still_open"), 1);
  for (const testing::ReadSlice& slice : trace.slices) {
    if (slice.name == "inner") {
      EXPECT_EQ(slice.depth, 2u);
    }
    if (slice.name == "still_open") {
      EXPECT_EQ(slice.flags.count("open_at_window_end"), 1u);
    }
  }
  ASSERT_EQ(trace.counters.size(), 1u);
  EXPECT_EQ(trace.counters[0].value, -5);
  ASSERT_EQ(trace.instants.size(), 1u);
  EXPECT_EQ(trace.instants[0].name, "tap");
  ASSERT_EQ(trace.frames.size(), 2u);  // expected and actual
  EXPECT_TRUE(std::all_of(trace.frames.begin(), trace.frames.end(),
                          [](const auto& frame) { return !frame.actual || frame.jank_type == 1; }));
  EXPECT_GE(trace.clocks.size(), 3u);
  EXPECT_EQ(reports_[0].losses().unmatched_ends(), 0u);
  EXPECT_EQ(reports_[0].losses().open_slices(), 1u);
}

TEST_F(SdkTest, NamesOfALibraryThatWasUnloadedStayValid) {
  Drive({"plugin", JANKBOX_TEST_PLUGIN});
  ASSERT_EQ(reports_.size(), 1u);
  const testing::TraceContent trace = Trace();
  EXPECT_EQ(Count(trace, "plugin_work"), 1);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Count(trace, "plugin_step_" + std::to_string(i)), 1);
  EXPECT_EQ(Count(trace, "scoped_in_c"), 1);
  ASSERT_EQ(trace.counters.size(), 1u);
  EXPECT_EQ(trace.counters[0].name, "plugin_counter");
}

std::vector<std::string> Modes(const proto::Report& report) {
  std::vector<std::string> modes;
  for (const proto::Recording& part : report.recording()) {
    modes.push_back(part.mode() + ": " + part.reason());
    EXPECT_LE(part.from_ns(), part.to_ns());
  }
  return modes;
}

TEST_F(SdkTest, FloodOfAWorkerStepsDownAndTheReportSaysSo) {
  Drive({"flood", "9000"});  // twice what two steps take: two looks each, one a second
  ASSERT_EQ(reports_.size(), 1u);
  const std::vector<std::string> modes = Modes(reports_[0]);
  ASSERT_GE(modes.size(), 3u);
  EXPECT_EQ(modes[0], "exact: start");
  EXPECT_EQ(modes[1], "coarse: over budget");
  EXPECT_EQ(modes[2], "ui_only: over budget");
  EXPECT_EQ(reports_[0].recording(0).to_ns(), reports_[0].recording(1).from_ns());
  EXPECT_GT(reports_[0].clock_error_ns(), 0u);
  EXPECT_GT(reports_[0].self_cost().recording_ns(), 0u);
  EXPECT_EQ(reports_[0].self_cost().cpu_budget_permille(), 10u);
  const testing::TraceContent trace = Trace();
  EXPECT_EQ(Count(trace, "coarse"), 1);
  EXPECT_EQ(Count(trace, "ui_only"), 1);
  EXPECT_EQ(Count(trace, "after the flood"), 1);  // the UI thread is recorded all along
  EXPECT_EQ(Count(trace, "scoped_in_c"), 1);
}

TEST_F(SdkTest, FixedModesRecordWhatTheySay) {
  Drive({"slices"}, {{"JANKBOX_OPTIONS", "record=coarse"}});
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(Modes(reports_[0]), std::vector<std::string>({"coarse: option"}));
  testing::TraceContent trace = Trace();
  EXPECT_EQ(Count(trace, "inner"), 10);
  EXPECT_EQ(Count(trace, "scoped_in_c"), 1);
  EXPECT_EQ(reports_[0].losses().unmatched_ends(), 0u);
}

TEST_F(SdkTest, RecordingOffStillNoticesSlowMessages) {
  Drive({"busy", "900"}, {{"JANKBOX_OPTIONS", "record=off"}});
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0].kind(), proto::SLOW_MESSAGE);
  EXPECT_EQ(reports_[0].what(), "busy message");
  EXPECT_EQ(Modes(reports_[0]), std::vector<std::string>({"off: option"}));
}

TEST_F(SdkTest, UiOnlyLeavesWorkersOut) {
  Drive({"flood", "100"}, {{"JANKBOX_OPTIONS", "record=ui_only"}});
  ASSERT_EQ(reports_.size(), 1u);
  const testing::TraceContent trace = Trace();
  EXPECT_LE(Count(trace, "flood_call"), 1);
  EXPECT_EQ(Count(trace, "after the flood"), 1);
}

TEST_F(SdkTest, SlowMessageSaysWhatAndWhy) {
  Drive({"busy", "900"});
  ASSERT_EQ(reports_.size(), 1u);
  const proto::Report& report = reports_[0];
  EXPECT_EQ(report.kind(), proto::SLOW_MESSAGE);
  EXPECT_EQ(report.what(), "busy message");
  EXPECT_THAT(static_cast<double>(report.duration_ns()) / 1e6, LastsAbout(900));
  EXPECT_FALSE(report.ongoing());
  EXPECT_EQ(Sum(report.verdict()), report.duration_ns());
  // On a busy machine the thread may have to wait for its CPU, or for a page of its program; it
  // never waits for anything else.
  const proto::Verdict& verdict = report.verdict();
  EXPECT_GT(verdict.running_ns() + verdict.runnable_ns() + verdict.fault_ns(),
            report.duration_ns() * 3 / 4)  // the rest is unknown if the kernel's events are late
      << verdict.ShortDebugString();
  EXPECT_GT(report.sample_count(), 20u);
  EXPECT_TRUE(
      std::any_of(report.top_frames().begin(), report.top_frames().end(),
                  [](const proto::Frame& frame) { return frame.function() == "spin_in_c"; }))
      << report.ShortDebugString();
  const testing::TraceContent trace = Trace();
  EXPECT_GT(trace.samples.size(), 20u);
  EXPECT_GE(Count(trace, "spin_in_c"), 1);  // the merged slice tree
  EXPECT_EQ(trace.triggers.size(), 1u);
}

TEST_F(SdkTest, TraceOfASlowMessageBeginsWithTheReason) {
  Drive({"busy", "900"});
  ASSERT_EQ(reports_.size(), 1u);
  const testing::TraceContent trace = Trace();
  EXPECT_EQ(trace.tracks.at(trace.tracks_in_order.at(0)).name, "Jankbox incident");
  const auto incident = std::find_if(
      trace.slices.begin(), trace.slices.end(),
      [](const testing::ReadSlice& slice) { return slice.track == "Jankbox incident"; });
  ASSERT_NE(incident, trace.slices.end());
  EXPECT_THAT(incident->name, ::testing::MatchesRegex("slow message [0-9]+ ms: [0-9]+ % [a-z]+, in "
                                                      "spin_in_c"));
  EXPECT_EQ(incident->annotations.at("fingerprint"), reports_[0].fingerprint());
  EXPECT_EQ(incident->annotations.at("verdict.summary"), reports_[0].verdict().summary());
  EXPECT_EQ(incident->annotations.at("thresholds.slow_message_ms"), "700");
  EXPECT_EQ(incident->annotations.at("blamed_stack[0]"), "spin_in_c");
  uint64_t at = incident->ts;
  for (const testing::ReadSlice& slice : trace.slices) {
    if (slice.track != "Jankbox verdict") continue;
    EXPECT_EQ(slice.ts, at) << "a hole";
    at = slice.ts + slice.dur;
  }
  EXPECT_EQ(at, incident->ts + incident->dur);
  for (const testing::ReadSample& sample : trace.samples) {
    if (sample.frames.empty()) {
      EXPECT_EQ(sample.unwind_error, 0u);
    }
    for (const testing::ReadFrameOfStack& frame : sample.frames) {
      EXPECT_THAT(frame.function, ::testing::Not(::testing::StartsWith("__libc_start")));
      EXPECT_NE(frame.function, "_start");
    }
  }
}

TEST_F(SdkTest, BlockGrowsFromSlowToAnrUnderOneId) {
  Drive({"block", "1800"}, {{"JANKBOX_OPTIONS", "slow_message_ms=300,anr_ms=1000"}});
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0].kind(), proto::ANR);
  EXPECT_EQ(reports_[0].revision(), 2u);
  EXPECT_FALSE(reports_[0].ongoing());
  EXPECT_THAT(static_cast<double>(reports_[0].duration_ns()) / 1e6, LastsAbout(1800));
  ExpectSleep(reports_[0]);
  ASSERT_GT(reports_[0].top_frames_size(), 0);
  EXPECT_EQ(reports_[0].top_frames(0).function(), "blocked_method");
  EXPECT_EQ(reports_[0].top_frames(0).module(), "[method]");
}

TEST_F(SdkTest, BadByteLooksTheSameInTheTraceAndInTheReport) {
  Drive({"block", "900", "caf\xc3 \xff!"});
  const std::string shown = "caf\xef\xbf\xbd \xef\xbf\xbd!";
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0].what(), shown);
  EXPECT_EQ(reports_[0].thread(), shown);
  ASSERT_GT(reports_[0].top_frames_size(), 0);
  EXPECT_EQ(reports_[0].top_frames(0).function(), shown);
  const testing::TraceContent trace = Trace();
  EXPECT_EQ(Count(trace, shown), 2) << "the message and the method";
  EXPECT_EQ(trace.threads.at(trace.pid), shown);
}

TEST_F(SdkTest, SystemThatAllowsNoFurtherThreadRefusesTheStart) {
  std::vector<std::string> argv;
  if (geteuid() == 0) argv = {"setpriv", "--reuid=54321", "--clear-groups"};  // root has no limit
  ASSERT_EQ(chmod(root_.c_str(), 0777), 0);
  for (const std::string& word : {std::string("prlimit"), std::string("--nproc=1"),
                                  Binary("sdk_driver"), Folder("spool"), std::string("idle")}) {
    argv.push_back(word);
  }
  const Outcome outcome = RunProgram(argv);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("the system allows no further thread"));
}

TEST_F(SdkTest, LowLimitOfAFilesSizeLeavesTheRingInMemory) {
  const Outcome outcome =
      RunProgram({"prlimit", "--fsize=4096", Binary("sdk_driver"), Folder("spool"), "idle"});
  EXPECT_EQ(outcome.signal, 0) << "SIGXFSZ";
  EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
}

TEST_F(SdkTest, LateFrameIsJankAndGoodFramesAreNot) {
  Drive({"jank"});
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0].kind(), proto::JANK);
  EXPECT_THAT(static_cast<double>(reports_[0].duration_ns()) / 1e6, LastsAbout(500));
  EXPECT_NEAR(reports_[0].frame_dropped(),
              static_cast<double>(reports_[0].duration_ns()) / (1e9 / 60) - 1, 2);
  ExpectSleep(reports_[0]);
  std::istringstream out(out_);
  const std::vector<uint64_t> took(std::istream_iterator<uint64_t>(out), {});
  ASSERT_EQ(took.size(), 20u);
  const auto late = [&](size_t frames) {
    return std::count_if(took.begin(), took.begin() + static_cast<ptrdiff_t>(frames),
                         [](uint64_t ns) { return ns > 16'666'667; });
  };
  EXPECT_LT(late(20), 20);
  const testing::TraceContent trace = Trace();
  const auto told = std::count_if(trace.frames.begin(), trace.frames.end(), [](const auto& frame) {
    return frame.actual && frame.jank_type == 64;
  });
  // The report is written after the eleventh frame, which was planted; the next ones may be in it.
  EXPECT_GE(told, late(11));
  EXPECT_LE(told, late(20));
}

TEST_F(SdkTest, NothingToReportIsNoReport) {
  Drive({"idle"});
  EXPECT_TRUE(reports_.empty());
}

TEST_F(SdkTest, InstrumentedProgramHasAllItsMethodsUnderTheirNames) {
  const Outcome outcome = RunProgram({Binary("instrumented"), Folder("spool")});
  ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
  reports_ = Reports(Folder("spool"));
  ASSERT_EQ(reports_.size(), 1u);
  const testing::TraceContent trace = Trace();
  EXPECT_EQ(Count(trace, "root_function"), 1);
  EXPECT_EQ(Count(trace, "middle_function"), 1);
  EXPECT_EQ(Count(trace, "leaf_function"), 6);
  EXPECT_EQ(reports_[0].losses().unnamed_methods(), 0u);
}

TEST_F(SdkTest, TraceNeedsNothingFromOutsideAndDecodesRaw) {
  Drive({"slices"});
  ASSERT_EQ(reports_.size(), 1u);
  const std::string plain = Folder("out.pftrace");
  ASSERT_EQ(RunProgram({Binary("jankbox"), "export",
                        Folder("spool") + "/" + reports_[0].id() + kReportFileSuffix, "-o", plain})
                .exit_status,
            0);
  EXPECT_EQ(RunProgram({"sh", "-c", "protoc --decode_raw < " + plain + " > /dev/null"}).exit_status,
            0);
  std::string error;
  testing::ReadTrace(ReadFile(plain, 64 << 20).value(), &error);
  EXPECT_EQ(error, "");
}

TEST_F(SdkTest, UnwritableFolderIsOneWarningAndNeverTheHostsProblem) {
  const Outcome outcome = RunProgram({Binary("sdk_driver"), "/proc/no-such-folder", "busy", "800"});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST_F(SdkTest, BadEntryOfTheEnvironmentIsIgnoredByName) {
  const Outcome outcome = RunProgram({Binary("sdk_driver"), Folder("spool"), "slices"},
                                     {{"JANKBOX_OPTIONS", "slow_message_ms=1,recrod=off"}});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_NE(outcome.err.find("slow_message_ms is \"1\": must be 10 to 600000"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("did you mean record?"), std::string::npos) << outcome.err;
  EXPECT_EQ(Reports(Folder("spool")).size(), 1u);
}

}  // namespace
}  // namespace jankbox
