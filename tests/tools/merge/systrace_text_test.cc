// `jankbox export --systrace`, read by a pattern of its own.
#include <gmock/gmock.h>
#include <regex.h>

#include <sstream>

#include "tests/tools/merge/capture_texts.h"
#include "tests/tools/sealed_report.h"
#include "tests/tools/subprocess.h"

namespace jankbox::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Exported(const testproto::Trace& trace) {
  TemporaryFolder folder;
  const std::string file =
      SealReportFile(folder.path(), SampleReport(1), trace.SerializeAsString());
  const Finished finished = RunToEnd({JANKBOX_BINARY, "export", "--systrace", file});
  EXPECT_EQ(finished.exit_status(), 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  return finished.out;
}

// Importers find task, TGID, CPU, flags and stamp so.
class LineForm {
 public:
  LineForm() {
    const char form[] =
        "^ *(.+)-([0-9]+) +\\( *([0-9]+|-+)\\) +\\[([0-9]+)\\] +([.0-9A-Za-z]{4,5}) "
        "+([0-9]+\\.[0-9]{6}): +(.*)$";
    EXPECT_EQ(regcomp(&form_, form, REG_EXTENDED), 0);
  }
  ~LineForm() { regfree(&form_); }
  LineForm(const LineForm&) = delete;
  LineForm& operator=(const LineForm&) = delete;

  bool Match(const std::string& line, std::string* stamp, std::string* function) const {
    regmatch_t found[8];
    if (regexec(&form_, line.c_str(), 8, found, 0) != 0) return false;
    *stamp = Part(line, found[6]);
    *function = Part(line, found[7]);
    return true;
  }

 private:
  static std::string Part(const std::string& line, const regmatch_t& at) {
    return line.substr(static_cast<size_t>(at.rm_so), static_cast<size_t>(at.rm_eo - at.rm_so));
  }
  regex_t form_;
};

std::vector<std::string> Functions(const std::string& text) {
  const LineForm form;
  std::vector<std::string> functions;
  std::istringstream lines(text);
  double last = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line[0] == '#') continue;
    std::string stamp, function;
    EXPECT_TRUE(form.Match(line, &stamp, &function)) << line;
    if (stamp.empty()) continue;
    EXPECT_GE(std::stod(stamp), last);
    last = std::stod(stamp);
    functions.push_back(function);
  }
  return functions;
}

TEST(Systrace, AllFormsOrderedByTime) {
  const std::string text = Exported(AppTraceByHand());
  EXPECT_EQ(text.rfind("# tracer: nop\n", 0), 0u);
  EXPECT_THAT(text, HasSubstr("TASK-PID    TGID   CPU#"));
  EXPECT_THAT(text, HasSubstr("microseconds"));
  EXPECT_THAT(text, HasSubstr("  app (main) [x]-4001  ( 4001) [000] ....   100.000000: "
                              "tracing_mark_write: B|4001|outer\n"));
  EXPECT_THAT(Functions(text),
              ElementsAre("tracing_mark_write: B|4001|outer", "tracing_mark_write: B|4001|inner",
                          "tracing_mark_write: E|4001", "tracing_mark_write: B|4001|shared",
                          "tracing_mark_write: E|4001", "tracing_mark_write: C|4001|queue|5",
                          "tracing_mark_write: S|4001|load|1", "tracing_mark_write: F|4001|load|1",
                          "tracing_mark_write: E|4001"));
}

TEST(Systrace, KernelEventsOfTheReportStandBetweenItsMarkers) {
  testproto::Trace trace = AppTraceByHand();
  testproto::TracePacket* packet = trace.add_packet();
  packet->set_trusted_packet_sequence_id(9);
  auto* event = packet->mutable_ftrace_events()->add_event();
  packet->mutable_ftrace_events()->set_cpu(3);
  event->set_timestamp(kBoottimeNs + 15'000'000);
  event->set_pid(kAppPid);
  auto* fields = event->mutable_sched_switch();
  fields->set_prev_comm("app (main) [x]");
  fields->set_prev_pid(kAppPid);
  fields->set_prev_prio(120);
  fields->set_prev_state(2);
  fields->set_next_comm("swapper/3");
  fields->set_next_pid(0);
  fields->set_next_prio(120);
  const std::vector<std::string> functions = Functions(Exported(trace));
  ASSERT_EQ(functions.size(), 10u);
  EXPECT_EQ(functions[2],
            "sched_switch: prev_comm=app (main) [x] prev_pid=4001 prev_prio=120 prev_state=D ==> "
            "next_comm=swapper/3 next_pid=0 next_prio=120");
}

TEST(Systrace, NamesThatWouldBreakTheFormatAreFixed) {
  testproto::Trace trace = AppTraceByHand();
  for (auto& packet : *trace.mutable_packet()) {
    if (packet.track_event().name() == "outer") packet.mutable_track_event()->set_name("a\nb|c");
    // A slice with the name of its track is asynchronous.
    if (packet.track_event().name() == "load") packet.mutable_track_event()->set_name("x|y");
    if (packet.track_descriptor().name() == "load") {
      packet.mutable_track_descriptor()->set_name("x|y");
    }
  }
  const std::vector<std::string> functions = Functions(Exported(trace));
  ASSERT_EQ(functions.size(), 9u);
  EXPECT_EQ(functions[0], "tracing_mark_write: B|4001|a b|c");
  EXPECT_EQ(functions[6], "tracing_mark_write: S|4001|x/y|1");
}

// Who wrote each line: "task-tid".
std::vector<std::string> Writers(const std::string& text) {
  std::vector<std::string> writers;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line[0] == '#') continue;
    const size_t begin = line.find_first_not_of(' ');
    const size_t end = line.find_last_not_of(' ', line.find("( 4001)") - 1);
    writers.push_back(line.substr(begin, end + 1 - begin));
  }
  return writers;
}

void AddSlice(testproto::Trace* trace, uint64_t track, const char* name, uint64_t from_ms,
              uint64_t to_ms) {
  for (const bool begin : {true, false}) {
    testproto::TracePacket* packet = trace->add_packet();
    packet->set_trusted_packet_sequence_id(1);
    packet->set_timestamp(kBoottimeNs + (begin ? from_ms : to_ms) * 1'000'000);
    auto* event = packet->mutable_track_event();
    event->set_track_uuid(track);
    event->set_type(begin ? testproto::TrackEvent::TYPE_SLICE_BEGIN
                          : testproto::TrackEvent::TYPE_SLICE_END);
    if (begin) event->set_name(name);
  }
}

TEST(Systrace, TracksWhoseSlicesNestAreThreads) {
  testproto::Trace trace = AppTraceByHand();
  const auto add_track = [&trace](uint64_t uuid, uint64_t parent, const char* name) {
    testproto::TracePacket* packet = trace.add_packet();
    packet->set_trusted_packet_sequence_id(1);
    packet->mutable_track_descriptor()->set_uuid(uuid);
    if (parent != 0) packet->mutable_track_descriptor()->set_parent_uuid(parent);
    packet->mutable_track_descriptor()->set_name(name);
  };
  add_track(50, 12, "sampled stack");    // of the thread
  add_track(51, 0, "Jankbox incident");  // above the process
  add_track(52, 11, "asynchronous");     // of the process
  AddSlice(&trace, 50, "main", 200, 290);
  AddSlice(&trace, 50, "load", 210, 280);
  AddSlice(&trace, 51, "slow message", 300, 400);
  AddSlice(&trace, 52, "asynchronous", 500, 510);
  AddSlice(&trace, 52, "asynchronous", 520, 530);
  const std::string text = Exported(trace);
  const std::vector<std::string> functions = Functions(text), writers = Writers(text);
  ASSERT_EQ(functions.size(), 19u);
  ASSERT_EQ(writers.size(), 19u);
  const std::vector<std::string> slices(functions.begin() + 9, functions.end());
  EXPECT_THAT(slices,
              ElementsAre("tracing_mark_write: B|4001|main", "tracing_mark_write: B|4001|load",
                          "tracing_mark_write: E|4001", "tracing_mark_write: E|4001",
                          "tracing_mark_write: B|4001|slow message", "tracing_mark_write: E|4001",
                          "tracing_mark_write: S|4001|asynchronous|2",
                          "tracing_mark_write: F|4001|asynchronous|2",
                          "tracing_mark_write: S|4001|asynchronous|2",
                          "tracing_mark_write: F|4001|asynchronous|2"));
  // Threads that no kernel has: a row each, so that nothing of theirs mixes with another's.
  EXPECT_EQ(writers[9], "sampled stack of app (main) [x]-4194305");
  for (size_t i = 9; i < 13; ++i) EXPECT_EQ(writers[i], writers[9]);
  EXPECT_EQ(writers[13], "Jankbox incident-4194306");
  EXPECT_EQ(writers[15], "app (main) [x]-4001");
}

TEST(Systrace, NoReportIsNamed) {
  TemporaryFolder folder;
  const std::string file = SealReportFile(folder.path(), SampleReport(1), "no trace");
  const Finished finished = RunToEnd({JANKBOX_BINARY, "export", "--systrace", file});
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_THAT(finished.err, HasSubstr(file));
  const Finished usage = RunToEnd({JANKBOX_BINARY, "export", file});
  EXPECT_EQ(usage.exit_status(), 2);
  EXPECT_THAT(usage.err, HasSubstr("--output"));
}

}  // namespace
}  // namespace jankbox::tools
