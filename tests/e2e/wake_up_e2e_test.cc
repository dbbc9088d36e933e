// Which thread posted the slow message of a program that knows nothing of Jankbox: by what its loop
// read, and by the kernel's wake-ups where they are permitted.
#include <algorithm>
#include <map>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/e2e/run_program.h"
#include "tests/perfetto/trace_reader.h"

namespace jankbox {
namespace {

using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::StartsWith;

class WakeUpTest : public EndToEndTest {
 protected:
  // The longest incident of a loop of GLib, to which a thread "poster" posts a message of 900 ms. A
  // busy machine may have others.
  proto::Report RunPosted(const std::string& options) {
    folder_ = Folder(options);
    Environment environment = ForeignEnvironment();
    environment["JANKBOX_OPTIONS"] = options + ",slow_message_ms=600";
    const Outcome run = RunProgram({Binary("jankbox"), "run", "--dir", folder_, "--",
                                    Binary("glib_waits"), "posted", "900", folder_},
                                   environment);
    EXPECT_EQ(run.exit_status, 0) << run.err;
    const std::vector<proto::Report> reports = Reports(folder_);
    const auto longest = std::max_element(
        reports.begin(), reports.end(),
        [](const auto& a, const auto& b) { return a.duration_ns() < b.duration_ns(); });
    EXPECT_NE(longest, reports.end()) << run.err;
    return longest == reports.end() ? proto::Report() : *longest;
  }
  testing::TraceContent TraceOf(const proto::Report& report) const {
    std::string error;
    const std::string file = folder_ + "/" + report.id() + kReportFileSuffix;
    testing::TraceContent trace = testing::ReadTrace(ReadFile(file, 64 << 20).value(), &error);
    EXPECT_EQ(error, "");
    return trace;
  }

  std::string folder_;
};

TEST_F(WakeUpTest, ThreadThatPostedTheMessageIsNamedAndAnArrowGoesFromIt) {
  for (const char* options : {"ftrace=off", "ftrace=auto"}) {
    SCOPED_TRACE(options);
    const proto::Report report = RunPosted(options);
    EXPECT_THAT(std::vector<std::string>(report.notes().begin(), report.notes().end()),
                Contains(ContainsRegex("Thread poster .[0-9]+. woke the loop for this message")));
    std::map<uint64_t, std::string> wakers;
    bool woken = false;
    for (const testing::ReadInstant& instant : TraceOf(report).instants) {
      for (const uint64_t flow : instant.flows) wakers[flow] = instant.name;
      if (!instant.name.starts_with("woken by poster [")) continue;
      ASSERT_EQ(instant.ended_flows.size(), 1u);
      EXPECT_THAT(wakers[instant.ended_flows[0]], StartsWith("wakes glib_waits ["));
      EXPECT_EQ(instant.tid, report.tid());
      woken = true;
    }
    EXPECT_TRUE(woken);
  }
}

}  // namespace
}  // namespace jankbox
