// Stalls of a process that did nothing before them: the watcher slept. 8 of 24 dispatches;
// JANKBOX_SOAK=1: 100 of 300, and the first sample of 99 in 100 comes in time, for which the
// machine has to be idle.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/e2e/run_program.h"
#include "tests/perfetto/trace_reader.h"

namespace jankbox {
namespace {

constexpr uint64_t kThresholdNs = 100'000'000;

class IdleStallsTest : public EndToEndTest {
 protected:
  // Until its first stack sample, in ns; nothing if it has none.
  std::optional<uint64_t> FirstSampleOf(const proto::Report& report, const std::string& folder) {
    std::string error;
    const std::string path = folder + "/" + report.id() + kReportFileSuffix;
    const testing::TraceContent trace =
        testing::ReadTrace(ReadFile(path, 64 << 20).value(), &error);
    EXPECT_EQ(error, "");
    const auto stall =
        std::find_if(trace.slices.rbegin(), trace.slices.rend(),
                     [](const testing::ReadSlice& slice) { return slice.name == "stall"; });
    EXPECT_NE(stall, trace.slices.rend());
    if (stall == trace.slices.rend()) return std::nullopt;
    std::optional<uint64_t> first;
    for (const testing::ReadSlice& slice : trace.slices) {
      if (slice.category != "sampled" || slice.ts < stall->ts) continue;
      first = std::min(first.value_or(UINT64_MAX), slice.ts - stall->ts);
    }
    return first;
  }
};

TEST_F(IdleStallsTest, AreAllReportedAndSampledInTime) {
  const bool soak = getenv("JANKBOX_SOAK") != nullptr;
  const std::vector<int> dispatches = soak ? std::vector<int>(10, 30) : std::vector<int>{24};
  int stalls = 0, in_time = 0;
  for (size_t run = 0; run < dispatches.size(); ++run) {  // a spool has 64 places
    const std::string folder = Folder("spool" + std::to_string(run));
    const Outcome outcome = RunProgram(
        {Binary("idle_stalls"), folder, std::to_string(run), std::to_string(dispatches[run])}, {},
        180'000);
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    int reported = 0;
    for (const proto::Report& report : Reports(folder)) {
      if (report.what() != "stall") continue;
      ++reported;
      const std::optional<uint64_t> sampled = FirstSampleOf(report, folder);
      EXPECT_TRUE(sampled) << report.id();
      in_time += sampled && *sampled <= kThresholdNs * 8 / 10;
    }
    EXPECT_EQ(reported, dispatches[run] / 3);
    stalls += reported;
  }
  printf("%d stalls, the first sample of %d came within 80 ms\n", stalls, in_time);
  if (soak) {
    EXPECT_GE(in_time, stalls * 99 / 100);
  }
}

}  // namespace
}  // namespace jankbox
