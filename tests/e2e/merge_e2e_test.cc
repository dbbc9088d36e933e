// A program that records and a capture of the kernel of the same seconds, joined and read back:
// both sides on the same tracks, and the same moments at the same times. Needs root and tracefs.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/e2e/run_program.h"
#include "tests/perfetto/trace_reader.h"

namespace jankbox {
namespace {

constexpr uint64_t kBlockNs = 60'000'000;
constexpr uint64_t kAllowedNs = 50'000;

// A private instance of tracefs that records switches, wake-ups and its own markers.
class KernelInstance {
 public:
  explicit KernelInstance(const std::string& clock)
      : name_("jankbox-merge-" + std::to_string(getpid())), path_(kInstances + name_) {
    if (mkdir(path_.c_str(), 0750) != 0) {
      problem_ = path_ + ": " + strerror(errno);
      return;
    }
    Write("trace_clock", clock);
    Write("buffer_size_kb", "8192");
    Write("events/sched/sched_switch/enable", "1");
    Write("events/sched/sched_waking/enable", "1");
  }
  ~KernelInstance() { rmdir(path_.c_str()); }

  const std::string& problem() const { return problem_; }
  std::string marker() const { return path_ + "/trace_marker"; }

  void SaveText(const std::string& to) {
    Write("tracing_on", "0");
    std::ifstream from(path_ + "/trace");
    std::ofstream(to) << from.rdbuf();
  }
  // trace-cmd removes the instance, too.
  bool SaveTraceDat(const std::string& to) {
    Write("tracing_on", "0");
    return RunProgram({"trace-cmd", "extract", "-B", name_, "-o", to}).exit_status == 0;
  }

 private:
  static constexpr char kInstances[] = "/sys/kernel/tracing/instances/";

  void Write(const std::string& file, const std::string& text) {
    std::ofstream out(path_ + "/" + file);
    out << text << std::flush;
    if (!out && problem_.empty()) problem_ = path_ + "/" + file + ": " + strerror(errno);
  }

  std::string name_;
  std::string path_;
  std::string problem_;
};

struct Setting {
  std::string clock;    // trace_clock
  std::string markers;  // argument of marker_driver
  bool namespaced;      // under unshare -T
  bool trace_dat;
  const char* name;
};
void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.name; }

class MergeTest : public EndToEndTest {
 protected:
  // The report of a run that the kernel watched, the capture, and their join in "both.pftrace.zst".
  void Record(const Setting& run) {
    KernelInstance kernel(run.clock);
    if (!kernel.problem().empty()) GTEST_SKIP() << "no tracefs of one's own: " << kernel.problem();
    std::vector<std::string> argv;
    if (run.namespaced) {
      argv = {"unshare", "-T", "--boottime", "100000", "--monotonic", "5000"};
      std::vector<std::string> trial = argv;
      trial.push_back("true");
      if (RunProgram(trial).exit_status != 0) GTEST_SKIP() << "no time namespaces here";
    }
    for (const std::string& word :
         {Binary("marker_driver"), Folder("spool"), kernel.marker(), run.markers}) {
      argv.push_back(word);
    }
    const Outcome outcome = RunProgram(argv);
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    ASSERT_EQ(outcome.err, "");
    capture_ = Folder(run.trace_dat ? "trace.dat" : "trace.txt");
    if (!run.trace_dat) {
      kernel.SaveText(capture_);
    } else if (!kernel.SaveTraceDat(capture_)) {
      GTEST_SKIP() << "trace-cmd extract does not work here";
    }
    const std::vector<proto::Report> reports = Reports(Folder("spool"));
    ASSERT_EQ(reports.size(), 1u);
    report_ = reports[0];
  }

  Outcome Merge(const std::vector<std::string>& more = {}) {
    std::vector<std::string> argv = {Binary("jankbox"),
                                     "merge",
                                     "--app",
                                     Folder("spool") + "/" + report_.id() + kReportFileSuffix,
                                     "--system",
                                     capture_,
                                     "-o",
                                     Folder("both.pftrace.zst"),
                                     "--json"};
    argv.insert(argv.end(), more.begin(), more.end());
    return RunProgram(argv);
  }

  void ReadBack() {
    const Outcome outcome = Merge();
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    summary_ = nlohmann::json::parse(outcome.out);
    std::string error;
    const std::string both = ReadFile(Folder("both.pftrace.zst"), 64 << 20).value();
    trace_ = testing::ReadTrace(both, &error, testing::Switches::kSome);
    ASSERT_EQ(error, "");
    const Result<proto::Report> kept = ReadReportFile(Folder("both.pftrace.zst"));
    ASSERT_TRUE(kept.ok()) << kept.status().message();
    EXPECT_EQ(kept.value().id(), report_.id());
    EXPECT_EQ(kept.value().notes_size(), report_.notes_size() + 1);
  }

  std::vector<testing::ReadSlice> Slices(const std::string& name) const {
    std::vector<testing::ReadSlice> found;
    for (const testing::ReadSlice& slice : trace_.slices) {
      if (slice.name == name) found.push_back(slice);
    }
    return found;
  }

  // When the kernel took the slice's thread off the CPU for the last time before the middle of its
  // sleep, and when it woke it after that; 0 if it did not.
  std::pair<uint64_t, uint64_t> OffCpu(const testing::ReadSlice& slice) const {
    const uint64_t middle = slice.ts + kBlockNs / 2;
    std::pair<uint64_t, uint64_t> found;
    for (const testing::ReadSched& run : trace_.sched) {
      if (run.prev_tid == slice.tid && run.ts < middle) found.first = std::max(found.first, run.ts);
    }
    for (const testing::ReadWaking& waking : trace_.wakings) {
      if (waking.tid != slice.tid || waking.ts < middle) continue;
      if (found.second == 0 || waking.ts < found.second) found.second = waking.ts;
    }
    return found;
  }

  // Where a recorded method sleeps, the kernel has the thread off the CPU: not before the method
  // began, nor woken after it ended, but for `error_ns`; and in the best of three off within
  // `allowed_ns`.
  void CheckProbes(uint64_t error_ns, uint64_t allowed_ns) const {
    uint64_t best = UINT64_MAX;
    const std::vector<testing::ReadSlice> blocks = Slices("paused");
    ASSERT_EQ(blocks.size(), 3u);
    for (const testing::ReadSlice& block : blocks) {
      EXPECT_EQ(block.tid, report_.tid());
      const auto [off, woken] = OffCpu(block);
      EXPECT_GE(off + error_ns, block.ts);
      EXPECT_LE(woken, block.ts + block.dur + error_ns);
      EXPECT_GE(woken - off, kBlockNs * 9 / 10);
      best = std::min(best, off > block.ts ? off - block.ts : block.ts - off);
    }
    EXPECT_LE(best, allowed_ns);
    RecordProperty("best_ns", std::to_string(best));
  }

  // What the kernel alone saw nests on the thread's own track; what both saw is there once.
  void CheckTracks() const {
    const std::vector<testing::ReadSlice> alone = Slices("kernel alone");
    const std::vector<testing::ReadSlice> around = Slices("around");
    const std::vector<testing::ReadSlice> within = Slices("within");
    ASSERT_EQ(alone.size(), 12u);
    ASSERT_EQ(around.size(), 12u);
    ASSERT_EQ(within.size(), 12u);
    for (size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(alone[i].category, "ftrace");
      EXPECT_EQ(alone[i].tid, report_.tid());
      EXPECT_EQ(alone[i].track_uuid, around[i].track_uuid);
      EXPECT_EQ(alone[i].depth, around[i].depth + 1);
      EXPECT_EQ(within[i].depth, around[i].depth + 2);
    }
    const std::vector<testing::ReadSlice> both = Slices("both sides");
    ASSERT_EQ(both.size(), 12u);
    for (const testing::ReadSlice& slice : both) EXPECT_NE(slice.category, "ftrace");
    EXPECT_EQ(summary_["duplicates"], 24);
  }

  proto::Report report_;
  std::string capture_;
  nlohmann::json summary_;
  testing::TraceContent trace_;
};

class MergeRunTest : public MergeTest, public ::testing::WithParamInterface<Setting> {};

TEST_P(MergeRunTest, BothSidesStandOnOneTrackAndLineUp) {
  Record(GetParam());
  if (IsSkipped() || HasFatalFailure()) return;
  ReadBack();
  if (HasFatalFailure()) return;
  CheckTracks();
  const uint64_t bound_ns = summary_["clock"]["error_ns"];
  EXPECT_LT(bound_ns, kAllowedNs) << summary_["clock"];
  CheckProbes(bound_ns, kAllowedNs);
}

INSTANTIATE_TEST_SUITE_P(
    Clocks, MergeRunTest,
    ::testing::Values(Setting{"mono", "", false, false, "MonoText"},
                      Setting{"mono", "", false, true, "MonoTraceDat"},
                      Setting{"boot", "", false, false, "BootText"},
                      Setting{"boot", "", false, true, "BootTraceDat"},
                      Setting{"local", "", false, false, "LocalText"},
                      Setting{"local", "", false, true, "LocalTraceDat"},
                      Setting{"mono", "clock", true, false, "MonoOfATimeNamespaceByClockMarkers"},
                      Setting{"boot", "", true, true, "BootOfATimeNamespaceBySharedMarkers"},
                      Setting{"local", "clock", true, true, "LocalOfATimeNamespaceByClockMarkers"}),
    [](const auto& setting) { return setting.param.name; });

TEST_F(MergeTest, WithoutMarkersTheScheduleRevealsTheClock) {
  Record({"local", "silent", false, true, ""});
  if (IsSkipped() || HasFatalFailure()) return;
  ReadBack();
  if (HasFatalFailure()) return;
  EXPECT_EQ(summary_["clock"]["aligned_by"], "schedule");
  const uint64_t bound_ns = summary_["clock"]["error_ns"];
  EXPECT_LT(bound_ns, 1'000'000u);
  CheckProbes(bound_ns, kAllowedNs + bound_ns);
}

TEST_F(MergeTest, ATimeNamespaceWithoutMarkersIsNamed) {
  Record({"mono", "silent", true, false, ""});
  if (IsSkipped() || HasFatalFailure()) return;
  const Outcome refused = Merge();
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_NE(refused.err.find("time namespace"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("--join-anyway"), std::string::npos) << refused.err;
  EXPECT_NE(access(Folder("both.pftrace.zst").c_str(), F_OK), 0);
  const Outcome forced = Merge({"--join-anyway"});
  ASSERT_EQ(forced.exit_status, 0) << forced.err;
  EXPECT_EQ(nlohmann::json::parse(forced.out)["overlap_ns"], 0);
}

}  // namespace
}  // namespace jankbox
