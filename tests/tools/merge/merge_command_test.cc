// `jankbox merge` over files made by hand.
#include "tools/merge/merge_command.h"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "report/report_file.h"
#include "tests/perfetto/trace_reader.h"
#include "tests/tools/merge/capture_texts.h"
#include "tests/tools/sealed_report.h"
#include "tests/tools/subprocess.h"

namespace jankbox::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MergeCommandTest : public ::testing::Test {
 protected:
  void SetUp() override { Seal(AppTraceByHand()); }

  void Seal(const testproto::Trace& trace) {
    proto::Report report = SampleReport(1);
    report.set_os("Linux 6.1.0 x86_64");
    report_ = SealReportFile(folder_.path(), report, trace.SerializeAsString());
  }

  Finished Merge(const std::string& capture, const std::vector<std::string>& more = {},
                 const std::string& out = "out.pftrace") {
    WriteFile(folder_ / "capture", capture);
    std::vector<std::string> argv = {JANKBOX_BINARY, "merge",      "--app",
                                     report_,        "--system",   folder_ / "capture",
                                     "-o",           folder_ / out};
    argv.insert(argv.end(), more.begin(), more.end());
    return RunToEnd(argv);
  }
  nlohmann::json Summary(const std::string& capture, std::vector<std::string> more = {}) {
    more.push_back("--json");
    more.push_back("--force");
    const Finished finished = Merge(capture, more);
    EXPECT_EQ(finished.exit_status(), 0) << finished.err;
    return nlohmann::json::parse(finished.out, nullptr, false);
  }
  jankbox::testing::TraceContent Read(
      const std::string& out = "out.pftrace",
      jankbox::testing::Switches switches = jankbox::testing::Switches::kAll) {
    std::string error;
    const auto content = jankbox::testing::ReadTrace(FileBytes(folder_ / out), &error, switches);
    EXPECT_EQ(error, "");
    return content;
  }
  // Judged by a reader that shares no line with ours.
  void CheckIndependently(const std::string& out = "out.pftrace") {
    const Finished judged = RunToEnd({"python3", JANKBOX_SYSTRACE_READER, folder_ / out});
    EXPECT_EQ(judged.exit_status(), 0) << judged.out << judged.err;
  }
  static std::string Text() {
    return "# tracer: nop\n" +
           Line("app (main) [x]-4001", 12, "tracing_mark_write: B|4001|kernel") +
           Line("app (main) [x]-4001", 15, "tracing_mark_write: E|4001") +
           Line("app (main) [x]-4001", 30.01, "tracing_mark_write: B|4001|shared") +
           Line("app (main) [x]-4001", 39.99, "tracing_mark_write: E|4001") +
           Line("other task-9", 50, "tracing_mark_write: B|8|theirs") +
           Line("other task-9", 51, "tracing_mark_write: E|8");
  }

  TemporaryFolder folder_;
  std::string report_;
};

TEST_F(MergeCommandTest, TextIsOnTheAppsTracks) {
  const nlohmann::json summary = Summary(Text(), {"--clock", "mono"});
  EXPECT_EQ(summary["duplicates"], 2);
  EXPECT_EQ(summary["clock"]["name"], "mono");
  EXPECT_EQ(summary["events"]["print"], 6);
  EXPECT_EQ(summary["overlap_ns"], 39'000'000);
  const auto content = Read();
  std::map<std::string, jankbox::testing::ReadSlice> slices;
  for (const auto& slice : content.slices) slices[slice.name] = slice;
  EXPECT_EQ(content.slices.size(), 6u);  // outer, inner, shared, load, kernel, theirs
  EXPECT_EQ(slices["kernel"].tid, kAppPid);
  EXPECT_EQ(slices["kernel"].depth, 2u);  // in "inner"
  EXPECT_EQ(slices["kernel"].ts, kBoottimeNs + 12'000'000);
  EXPECT_EQ(slices["shared"].category, "");
  EXPECT_EQ(slices["theirs"].tid, 0);
  EXPECT_THAT(FileBytes(folder_ / "out.pftrace"), HasSubstr("clock_error_ns"));
  CheckIndependently();
}

TEST_F(MergeCommandTest, CollidingIdentifiersOfAPerfettoTraceAreDistinguished) {
  const nlohmann::json summary = Summary(PerfettoCapture().SerializeAsString());
  EXPECT_EQ(summary["clock"]["aligned_by"], "clock");
  EXPECT_EQ(summary["duplicates"], 2);
  EXPECT_EQ(summary["app_shift_ns"], 0);
  const auto content = Read();
  std::map<std::string, jankbox::testing::ReadSlice> slices;
  for (const auto& slice : content.slices) slices[slice.name] = slice;
  EXPECT_EQ(content.slices.size(), 5u);
  EXPECT_EQ(slices["kernel"].track_uuid, slices["inner"].track_uuid);
  EXPECT_EQ(slices["kernel"].depth, 2u);
  CheckIndependently();
}

// Thread `from` leaves the CPU in `state`, and `to` comes.
std::string SwitchText(int from, const std::string& state, int to) {
  return "sched_switch: prev_comm=t" + std::to_string(from) + " prev_pid=" + std::to_string(from) +
         " prev_prio=120 prev_state=" + state + " ==> next_comm=t" + std::to_string(to) +
         " next_pid=" + std::to_string(to) + " next_prio=120";
}

TEST_F(MergeCommandTest, ContradictorySwitchesAreRepairedAndCounted) {
  // Thread 21 leaves unseen, 22 came unseen.
  const std::string text = "# tracer: nop\n" + Line("t20-20", 10, SwitchText(20, "S", 21)) +
                           Line("t21-21", 15, "tracing_mark_write: I|21|there") +
                           Line("t22-22", 30, SwitchText(22, "D", 23)) +
                           Line("t23-23", 40, SwitchText(23, "S", 0));
  EXPECT_EQ(Summary(text, {"--clock", "mono"})["contradictory_switches"], 1);
  const auto content = Read("out.pftrace", jankbox::testing::Switches::kSome);
  std::vector<std::string> runs;
  for (const jankbox::testing::ReadSched& run : content.sched) {
    runs.push_back(std::to_string(run.tid) + " " +
                   std::to_string((run.ts - kBoottimeNs) / 1'000'000) + "+" +
                   std::to_string(run.dur / 1'000'000) + " " + (run.open ? "on" : run.end_state));
  }
  EXPECT_THAT(runs, ::testing::ElementsAre("21 10+5 S", "0 15+15 R", "22 30+0 D", "23 30+10 S",
                                           "0 40+0 on"));
  EXPECT_THAT(Merge(text, {"--clock", "mono", "--force"}).out,
              HasSubstr("1 of the capture contradicted the one before"));
  CheckIndependently();
}

TEST_F(MergeCommandTest, ThreadsOfOtherProgramsKeepTheProcessesThatTheCaptureKnows) {
  testproto::Trace app = AppTraceByHand();
  testproto::TracePacket* packet = app.add_packet();
  packet->set_trusted_packet_sequence_id(2);
  packet->set_sequence_flags(2);
  packet->mutable_process_tree()->add_processes()->set_pid(INT32_MAX);
  packet->mutable_process_tree()->mutable_processes(0)->add_cmdline("Other programs");
  for (const int32_t tid : {9, 10}) {
    auto* thread = packet->mutable_process_tree()->add_threads();
    thread->set_tid(tid);
    thread->set_tgid(INT32_MAX);
  }
  Seal(app);
  Summary(Text(), {"--clock", "mono"});  // which says that 9 is a thread of 8
  EXPECT_EQ(Read().other_threads, (std::map<int32_t, int32_t>{{9, 8}, {10, INT32_MAX}}));
}

TEST_F(MergeCommandTest, AnotherBootIsNamedAndJoinedOnlyWhenAsked) {
  const std::string other = PerfettoCapture(5'000'000'000).SerializeAsString();
  const Finished refused = Merge(other, {"--clock", "boot"});
  EXPECT_EQ(refused.exit_status(), 1);
  EXPECT_THAT(refused.err, HasSubstr("5.000 s from the report's"));
  EXPECT_THAT(refused.err, HasSubstr("another boot, or a time namespace"));
  const nlohmann::json summary = Summary(other, {"--join-anyway"});
  EXPECT_EQ(summary["clock"]["aligned_by"], "wall clock");
  EXPECT_EQ(summary["app_shift_ns"], -5'000'000'000);
  EXPECT_GE(summary["clock"]["error_ns"], 10'000'000);
  CheckIndependently();
}

TEST_F(MergeCommandTest, NoTimeInCommonIsNamed) {
  const std::string late = "# tracer: nop\n" + Line("a-1", 5000, "tracing_mark_write: E|1");
  const Finished refused = Merge(late, {"--clock", "mono"});
  EXPECT_EQ(refused.exit_status(), 1);
  EXPECT_THAT(refused.err, HasSubstr("no time in common"));
  EXPECT_THAT(refused.err, HasSubstr("4.900 s away"));
  EXPECT_EQ(FileBytes(folder_ / "out.pftrace"), "");
  const nlohmann::json summary = Summary(late, {"--clock", "mono", "--join-anyway"});
  EXPECT_EQ(summary["overlap_ns"], 0);
}

TEST_F(MergeCommandTest, CompressedOutputKeepsTheReport) {
  const Finished finished = Merge(Text(), {"--clock", "mono"}, "out.pftrace.zst");
  ASSERT_EQ(finished.exit_status(), 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("clock        mono, aligned by clock"));
  const Result<proto::Report> report = ReadReportFile(folder_ / "out.pftrace.zst");
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report.value().id(), SampleReport(1).id());
  EXPECT_THAT(report.value().notes(report.value().notes_size() - 1), HasSubstr("merged with"));
  Read("out.pftrace.zst");
}

TEST_F(MergeCommandTest, CutCapturesAreErrorsOrSaidToBeCut) {
  const std::string trace = PerfettoCapture().SerializeAsString();
  int refused = 0;
  for (size_t size = 1; size < trace.size(); size += 7) {
    const Finished finished = Merge(trace.substr(0, size), {"--force"});
    if (finished.exit_status() == 0) continue;
    ++refused;
    EXPECT_EQ(finished.exit_status(), 1) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(folder_ / "capture"));
  }
  EXPECT_GT(refused, 10);
  const std::string text = Text();
  EXPECT_EQ(Summary(text.substr(0, text.size() - 3), {"--clock", "mono"})["cut_off"], true);
}

TEST_F(MergeCommandTest, WrongInputsAreNamed) {
  EXPECT_THAT(Merge("{}").err, HasSubstr("JSON"));
  EXPECT_THAT(Merge("# tracer: nop\n").err, HasSubstr("no event"));
  EXPECT_THAT(Merge("a-1 [000] .... 123456789: tracing_mark_write: E\n").err,
              HasSubstr("trace_clock mono or boot"));
  const Finished usage = Merge(Text(), {"--clock", "sundial"});
  EXPECT_EQ(usage.exit_status(), 2);
  report_ = SealReportFile(folder_.path(), SampleReport(2), "no trace");
  EXPECT_THAT(Merge(Text()).err, HasSubstr(report_));
  const Finished both = RunToEnd({JANKBOX_BINARY, "merge", "--app", report_, "--system",
                                  folder_ / "capture", "-o", "-", "--json"});
  EXPECT_EQ(both.exit_status(), 2);
}

TEST_F(MergeCommandTest, ExistingFileIsReplacedOnlyByForce) {
  WriteFile(folder_ / "out.pftrace", "precious");
  const Finished refused = Merge(Text(), {"--clock", "mono", "--join-anyway"});
  EXPECT_EQ(refused.exit_status(), 1);
  EXPECT_THAT(refused.err, HasSubstr("File exists"));
  EXPECT_EQ(FileBytes(folder_ / "out.pftrace"), "precious");
  EXPECT_EQ(Merge(Text(), {"--clock", "mono", "--force"}).exit_status(), 0);
  EXPECT_THAT(FileBytes(folder_ / "out.pftrace"), Not(HasSubstr("precious")));
}

}  // namespace
}  // namespace jankbox::tools
