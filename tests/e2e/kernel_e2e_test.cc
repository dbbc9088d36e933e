// The kernel's scheduling, block IO and page faults beside the slices of real programs, held
// against what the programs measured by other means.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/file.h"
#include "base/scoped_fd.h"
#include "report/report_file.h"
#include "tests/e2e/run_program.h"
#include "tests/perfetto/trace_reader.h"
#include "tracer/ftrace/event_reader.h"
#include "tracer/ftrace/tracefs_file.h"

namespace jankbox {
namespace {

using testing::ReadSched;
using testing::ReadSlice;
using testing::TraceContent;

constexpr int64_t kAgreeNs = 50'000;
constexpr int64_t kWideNs = 250'000;

struct Interval {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// The part of `interval` inside `slice`.
uint64_t Inside(const ReadSlice& slice, Interval interval) {
  const uint64_t begin = std::max(slice.ts, interval.begin);
  const uint64_t end = std::min(slice.ts + slice.dur, interval.end);
  return end > begin ? end - begin : 0;
}

uint64_t NumberAfter(const std::string& text, const std::string& label) {
  const size_t at = text.find(label + " ");
  return at == std::string::npos ? 0 : strtoull(text.c_str() + at + label.size() + 1, nullptr, 10);
}

// Times of `tid` on a CPU, in order.
std::vector<ReadSched> RunsOf(const TraceContent& trace, int32_t tid) {
  std::vector<ReadSched> runs;
  for (const ReadSched& run : trace.sched) {
    if (run.tid == tid) runs.push_back(run);
  }
  std::sort(runs.begin(), runs.end(),
            [](const ReadSched& a, const ReadSched& b) { return a.ts < b.ts; });
  return runs;
}

// When `tid` was woken first in [from, to]; `to` if it was not.
uint64_t FirstWaking(const TraceContent& trace, int32_t tid, uint64_t from, uint64_t to) {
  uint64_t first = to;
  for (const testing::ReadWaking& waking : trace.wakings) {
    if (waking.tid == tid && waking.ts >= from) first = std::min(first, waking.ts);
  }
  return first;
}

struct Shares {
  uint64_t runnable = 0;
  uint64_t disk = 0;  // in state D
};

// As Perfetto's table thread_state: out in R is runnable; else waiting until woken, then runnable.
Shares SharesIn(const TraceContent& trace, const ReadSlice& slice) {
  Shares shares;
  const std::vector<ReadSched> runs = RunsOf(trace, slice.tid);
  for (size_t i = 0; i + 1 < runs.size(); ++i) {
    const uint64_t out = runs[i].ts + runs[i].dur;
    const uint64_t in = runs[i + 1].ts;
    const bool could_run = runs[i].end_state[0] == 'R';
    const uint64_t woken = could_run ? out : FirstWaking(trace, slice.tid, out, in);
    shares.runnable += Inside(slice, {woken, in});
    if (runs[i].end_state == "D") shares.disk += Inside(slice, {out, woken});
  }
  return shares;
}

// Time with at least one request of the thread at the device.
uint64_t RequestTime(const TraceContent& trace, const ReadSlice& slice) {
  uint64_t sum = 0, until = 0;
  for (const testing::ReadBlockRequest& request : trace.block) {
    if (request.open || request.tid != slice.tid) continue;
    const uint64_t begin = std::max(request.ts, until);
    until = std::max(until, request.ts + request.dur);
    if (until > begin) sum += Inside(slice, {begin, until});
  }
  return sum;
}

class KernelTest : public EndToEndTest {
 protected:
  // Why the kernel cannot be asked on this machine; empty if it can.
  static std::string WhyNot() {
    Result<std::string> tracefs = FindTracefs();
    if (!tracefs.ok()) return tracefs.status().message();
    Result<std::unique_ptr<EventReader>> reader = EventReader::Open(tracefs.value());
    return reader.ok() ? "" : reader.status().message();
  }

  void Drive(const std::vector<std::string>& command, const std::vector<std::string>& before = {},
             const std::map<std::string, std::string>& environment = {}) {
    std::vector<std::string> argv = before;
    argv.push_back(Binary("kernel_driver"));
    argv.push_back(Folder("spool"));
    argv.insert(argv.end(), command.begin(), command.end());
    outcome_ = RunProgram(argv, environment);
    ASSERT_EQ(outcome_.exit_status, 0) << outcome_.err;
    const std::vector<proto::Report> reports = Reports(Folder("spool"));
    ASSERT_EQ(reports.size(), 1u);
    report_ = reports[0];
    std::string error;
    const std::string path = Folder("spool") + "/" + report_.id() + kReportFileSuffix;
    trace_ = testing::ReadTrace(ReadFile(path, 64 << 20).value(), &error);
    ASSERT_EQ(error, "");
  }

  std::vector<ReadSlice> Slices(const std::string& name) const {
    std::vector<ReadSlice> slices;
    for (const ReadSlice& slice : trace_.slices) {
      if (slice.name == name) slices.push_back(slice);
    }
    return slices;
  }

  // Switches that the kernel itself missed and the recorder had to infer.
  uint64_t UntoldSwitches() const {
    for (const ReadSlice& slice : trace_.slices) {
      if (slice.track != "Jankbox kernel events") continue;
      return strtoull(slice.annotations.at("untold_switches").c_str(), nullptr, 10);
    }
    return 0;
  }

  std::string KernelNote() const {
    for (const std::string& note : report_.notes()) {
      if (note.rfind("kernel scheduling: ", 0) == 0) return note;
    }
    return "";
  }

  Outcome outcome_;
  proto::Report report_;
  TraceContent trace_;
};

// What the clocks of two sides may differ by: a thread leaves the CPU after its slice began, and is
// back before it ends.
struct Skew {
  int64_t most = INT64_MAX;
  int64_t least = INT64_MIN;
};

Skew SkewOver(const TraceContent& trace, const std::vector<ReadSlice>& naps) {
  Skew skew;
  for (const ReadSlice& nap : naps) {
    // The nap's own switches are those nearest to its edges: it may have been preempted before.
    std::optional<int64_t> out, in;  // ns after the nap's start and end
    const auto nearest = [&nap](std::optional<int64_t>* best, uint64_t at, uint64_t edge) {
      const auto off = static_cast<int64_t>(at - edge);
      if (std::abs(off) >= static_cast<int64_t>(nap.dur / 2)) return;
      if (!*best || std::abs(off) < std::abs(**best)) *best = off;
    };
    for (const ReadSched& run : RunsOf(trace, nap.tid)) {
      nearest(&out, run.ts + run.dur, nap.ts);
      nearest(&in, run.ts, nap.ts + nap.dur);
    }
    if (!out || !in) continue;
    skew.most = std::min(skew.most, *out);
    skew.least = std::max(skew.least, *in);
  }
  return skew;
}

class KernelClockTest : public KernelTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(KernelClockTest, SwitchesAgreeWithSlicesInATimeNamespace) {
  if (const std::string why = WhyNot(); !why.empty()) GTEST_SKIP() << why;
  if (RunProgram({"unshare", "-T", "--boottime", "100000", "--monotonic", "5000", "true"})
          .exit_status != 0) {
    GTEST_SKIP() << "unshare -T is not permitted";
  }
  ASSERT_NO_FATAL_FAILURE(Drive({"naps"},
                                {"unshare", "-T", "--boottime", "100000", "--monotonic", "5000"},
                                {{"JANKBOX_OPTIONS", std::string("ftrace_clock=") + GetParam()}}));
  // The namespace's clocks, not the machine's.
  ASSERT_GT(trace_.clocks[6] - trace_.clocks[3], uint64_t{90'000} * 1'000'000'000);
  ASSERT_THAT(KernelNote(), ::testing::HasSubstr(std::string("trace_clock ") + GetParam()));
  const std::vector<ReadSlice> naps = Slices("nap");
  ASSERT_EQ(naps.size(), 60u);
  // In each third: a clock that drifts shows.
  for (size_t third = 0; third < 3; ++third) {
    const std::vector<ReadSlice> part(naps.begin() + static_cast<ptrdiff_t>(third * 20),
                                      naps.begin() + static_cast<ptrdiff_t>(third * 20 + 20));
    const Skew skew = SkewOver(trace_, part);
    ASSERT_NE(skew.most, INT64_MAX) << "no nap has switches";
    printf("%s, naps %zu to %zu: the kernel's stamps are %+.1f to %+.1f us off\n", GetParam(),
           third * 20, third * 20 + 19, static_cast<double>(skew.least) / 1000,
           static_cast<double>(skew.most) / 1000);
    const bool agree = skew.least <= skew.most + kAgreeNs;
    if (!agree && UntoldSwitches() != 0) {
      GTEST_SKIP() << "the kernel missed events: " << KernelNote();
    }
    // A skew close to zero explains both edges. The bounds are wider on a slow build or machine: a
    // thread takes longer from its nap to the end of its slice.
    EXPECT_LE(skew.least, kAgreeNs);
    EXPECT_GE(skew.most, -kAgreeNs);
    EXPECT_LE(skew.most, kWideNs);
    EXPECT_GE(skew.least, -kWideNs);
    EXPECT_LE(skew.least, skew.most + kAgreeNs);  // one skew explains both edges; the kernel's own
                                                  // stamps waver under a hypervisor
  }
}

INSTANTIATE_TEST_SUITE_P(TraceClocks, KernelClockTest,
                         ::testing::Values("local", "mono", "boot", "global", "x86-tsc"),
                         [](const auto& clock) {
                           std::string name = clock.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(KernelTest, RunnableTimeOfAStarvedThread) {
  if (const std::string why = WhyNot(); !why.empty()) GTEST_SKIP() << why;
  ASSERT_NO_FATAL_FAILURE(Drive({"starve"}));
  const std::vector<ReadSlice> starved = Slices("starved");
  ASSERT_EQ(starved.size(), 1u);
  const auto planted = static_cast<double>(NumberAfter(outcome_.out, "runnable_ns"));
  const auto seen = static_cast<double>(SharesIn(trace_, starved[0]).runnable);
  printf("runnable: schedstat %.1f ms, trace %.1f ms\n", planted / 1e6, seen / 1e6);
  EXPECT_GT(planted, 300e6);
  const bool agree = seen > 0.95 * planted && seen < 1.05 * planted;
  if (!agree && UntoldSwitches() != 0) GTEST_SKIP() << "the kernel missed events: " << KernelNote();
  EXPECT_NEAR(seen, planted, 0.05 * planted);
}

// A file that no page cache holds; empty if its filesystem reads from no block device.
std::string ColdFile(const std::string& path, size_t bytes) {
  ScopedFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  std::string piece(1 << 20, '\0');
  for (size_t at = 0; at < bytes; at += piece.size()) {
    for (size_t i = 0; i < piece.size(); i += 64) piece[i] = static_cast<char>(i * 31 + at);
    if (!WriteFully(fd.get(), piece).ok()) return "";
  }
  struct stat st {};
  const bool on_device = fstat(fd.get(), &st) == 0 && major(st.st_dev) != 0;
  if (!on_device || fsync(fd.get()) != 0) return "";
  return posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED) == 0 ? path : "";
}

// What was measured includes the time in which a hypervisor took the CPU away.
TEST_F(KernelTest, BlockIoOfAThreadThatReadsColdFiles) {
  if (const std::string why = WhyNot(); !why.empty()) GTEST_SKIP() << why;
  constexpr size_t kBytes = 128 << 20;
  const std::string file = ColdFile(Folder("cold"), kBytes);
  if (file.empty()) GTEST_SKIP() << "the folder of tests is on no block device";
  ASSERT_NO_FATAL_FAILURE(Drive({"cold", file}));
  const std::vector<ReadSlice> cold = Slices("cold");
  ASSERT_EQ(cold.size(), 1u);
  ASSERT_EQ(NumberAfter(outcome_.out, "read_bytes"), kBytes);
  const auto planted = static_cast<double>(NumberAfter(outcome_.out, "blocked_ns"));
  const auto stolen = static_cast<double>(NumberAfter(outcome_.out, "stolen_ns"));
  const auto waiting = static_cast<double>(SharesIn(trace_, cold[0]).disk);
  const auto requests = static_cast<double>(RequestTime(trace_, cold[0]));
  uint64_t bytes = 0;
  for (const testing::ReadBlockRequest& request : trace_.block) {
    if (request.tid != cold[0].tid) continue;
    EXPECT_FALSE(request.open);
    bytes += request.bytes;
  }
  printf(
      "block IO: measured %.1f ms, stolen %.1f ms; trace: waiting %.1f ms, requests %.1f ms, "
      "%.1f MiB\n",
      planted / 1e6, stolen / 1e6, waiting / 1e6, requests / 1e6,
      static_cast<double>(bytes) / (1 << 20));
  EXPECT_GT(planted, 5e6);
  EXPECT_GT(bytes, 0u);
  EXPECT_LT(static_cast<double>(bytes), 1.05 * kBytes);
  // On a busy disk the kernel's own threads issue a part of the requests.
  if (requests > 0.95 * waiting) {
    EXPECT_GT(static_cast<double>(bytes), 0.95 * kBytes);
  }
  EXPECT_LT(waiting, 1.05 * planted);
  EXPECT_GT(waiting, 0.95 * planted - stolen);
}

// One planted burst in the trace.
struct FaultsSeen {
  uint64_t faults = 0;
  uint64_t estimated_ns = 0;
};

FaultsSeen FaultsIn(const ReadSlice& slice, const std::vector<ReadSlice>& bursts) {
  FaultsSeen seen;
  for (const ReadSlice& burst : bursts) {
    EXPECT_EQ(burst.track, "soft page faults (estimate)");
    EXPECT_THAT(burst.annotations.at("basis"), ::testing::StartsWith("estimate"));
    if (Inside(slice, {burst.ts, burst.ts + burst.dur}) == 0) continue;
    seen.faults += NumberAfter("n " + burst.annotations.at("faults"), "n");
    seen.estimated_ns += NumberAfter("n " + burst.annotations.at("estimated_ns"), "n");
  }
  return seen;
}

TEST_F(KernelTest, PageFaultsAreEstimated) {
  if (const std::string why = WhyNot(); !why.empty()) GTEST_SKIP() << why;
  ASSERT_NO_FATAL_FAILURE(Drive({"fault"}, {}, {{"JANKBOX_OPTIONS", "ftrace_buffer_kib=4096"}}));
  const std::vector<ReadSlice> faulting = Slices("faulting");
  ASSERT_EQ(faulting.size(), 5u);
  std::string measured = outcome_.out;
  double cheapest = 1e12;
  std::vector<std::pair<double, double>> bursts;  // what one cost, and what was estimated, in ns
  for (const ReadSlice& slice : faulting) {
    const FaultsSeen seen = FaultsIn(slice, Slices("page faults"));
    const auto planted = static_cast<double>(NumberAfter(measured, "fault_ns"));
    measured.erase(0, measured.find('\n') + 1);
    EXPECT_GE(seen.faults, 8192u);
    EXPECT_LE(seen.faults,
              8192u * 5 / 4);  // a sanitizer's shadow is touched for the first time too
    bursts.emplace_back(planted, static_cast<double>(seen.estimated_ns));
    cheapest = std::min(cheapest, planted);
    printf("page faults: %lu, measured %.1f ms, estimated %.1f ms\n", seen.faults, planted / 1e6,
           static_cast<double>(seen.estimated_ns) / 1e6);
  }
  // Some cost several times as much where the host of a virtual machine has to find the memory.
  // Each estimate is of its own seal, and a neighbour of the core moves either by a quarter.
  std::vector<double> ratios;
  for (const auto& [cost, estimated] : bursts) {
    if (cost < 2 * cheapest) ratios.push_back(estimated / cost);
  }
  std::sort(ratios.begin(), ratios.end());
  EXPECT_NEAR(ratios[ratios.size() / 2], 1.0, 1.0 / 3);
  EXPECT_EQ(report_.losses().lost_kernel_events(), 0u);
}

// Instances of one process.
std::vector<std::string> InstancesOf(pid_t pid) {
  std::vector<std::string> found;
  const std::string prefix = "jankbox-" + std::to_string(pid) + "-";
  Result<std::vector<std::string>> names = ListDirectory(FindTracefs().value() + "/instances");
  if (!names.ok()) return found;
  for (const std::string& name : names.value()) {
    if (name.rfind(prefix, 0) == 0) found.push_back(name);
  }
  return found;
}

std::string GlobalSettings() {
  std::string all;
  for (const char* name :
       {"tracing_on", "trace_clock", "buffer_size_kb", "current_tracer", "set_event",
        "set_event_pid", "trace_options", "tracing_cpumask", "saved_cmdlines_size",
        "events/sched/enable", "events/block/enable", "events/exceptions/enable",
        "events/sched/sched_switch/filter", "events/exceptions/page_fault_user/filter"}) {
    all += std::string(name) + ": " + ReadProcFile(FindTracefs().value() + "/" + name) + "\n";
  }
  return all;
}

TEST_F(KernelTest, StopLeavesTracefsAsItWas) {
  if (const std::string why = WhyNot(); !why.empty()) GTEST_SKIP() << why;
  const std::string before = GlobalSettings();
  Program program({Binary("kernel_driver"), Folder("spool"), "naps"});
  for (int i = 0; i < 2000 && InstancesOf(program.pid()).size() < 2; ++i) usleep(10'000);
  EXPECT_EQ(InstancesOf(program.pid()).size(), 2u);
  EXPECT_EQ(GlobalSettings(), before);  // while it records, too
  const pid_t pid = program.pid();
  EXPECT_EQ(program.Wait(20'000).exit_status, 0);
  EXPECT_EQ(InstancesOf(pid), std::vector<std::string>());
  EXPECT_EQ(GlobalSettings(), before);
}

// Another start may be at it at the same time, and keep an instance open for a moment.
bool InstancesGo(pid_t pid) {
  for (int i = 0; i < 2000 && !InstancesOf(pid).empty(); ++i) usleep(10'000);
  return InstancesOf(pid).empty();
}

TEST_F(KernelTest, NextStartRemovesWhatAKilledProcessLeft) {
  if (const std::string why = WhyNot(); !why.empty()) GTEST_SKIP() << why;
  // Not Jankbox's naming: never touched.
  const std::string foreign = FindTracefs().value() + "/instances/jankbox-1-2-of-somebody-else";
  ASSERT_EQ(mkdir(foreign.c_str(), 0700), 0);
  Program killed({Binary("kernel_driver"), Folder("spool"), "hang"});
  Program alive({Binary("kernel_driver"), Folder("other"), "hang"});
  EXPECT_TRUE(killed.WaitForOutput("ready", 20'000));
  EXPECT_TRUE(alive.WaitForOutput("ready", 20'000));
  const pid_t dead = killed.pid();
  EXPECT_EQ(InstancesOf(dead).size(), 2u);
  EXPECT_EQ(InstancesOf(alive.pid()).size(), 2u);
  killed.Signal(SIGKILL);
  killed.Wait(5'000);
  EXPECT_EQ(RunProgram({Binary("sdk_driver"), Folder("third"), "idle"}).exit_status, 0);
  EXPECT_TRUE(InstancesGo(dead));
  EXPECT_EQ(InstancesOf(alive.pid()).size(), 2u);
  EXPECT_EQ(rmdir(foreign.c_str()), 0);
  const pid_t second = alive.pid();
  alive.Signal(SIGKILL);
  alive.Wait(5'000);
  EXPECT_EQ(RunProgram({Binary("sdk_driver"), Folder("third"), "idle"}).exit_status, 0);
  EXPECT_TRUE(InstancesGo(second));
}

// The only child of a process; 0: it has none.
pid_t ChildOf(pid_t pid) {
  const std::string task = std::to_string(pid);
  return static_cast<pid_t>(
      atoi(ReadProcFile("/proc/" + task + "/task/" + task + "/children", 64).c_str()));
}

TEST_F(KernelTest, RunCommandRemovesWhatItsProgramLeaves) {
  if (const std::string why = WhyNot(); !why.empty()) GTEST_SKIP() << why;
  for (const bool killed : {false, true}) {
    Program run({Binary("jankbox"), "run", "--dir", Folder("spool"), "--", Binary("kernel_driver"),
                 Folder("other"), killed ? "hang" : "naps"});
    pid_t program = 0;
    for (int i = 0; i < 2000 && (program == 0 || InstancesOf(program).size() < 2); ++i) {
      usleep(10'000);
      program = ChildOf(run.pid());
    }
    ASSERT_NE(program, 0);
    EXPECT_EQ(InstancesOf(program).size(), 2u);
    if (killed) kill(program, SIGKILL);
    const Outcome outcome = run.Wait(20'000);
    EXPECT_EQ(outcome.exit_status == 0, !killed) << outcome.err;
    EXPECT_TRUE(InstancesGo(program)) << (killed ? "killed" : "ended");
  }
}

TEST_F(KernelTest, WithoutPermissionTheReportSaysSo) {
  ASSERT_EQ(chmod(root_.c_str(), 0777), 0);
  std::vector<std::string> nobody;
  if (geteuid() == 0) nobody = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  ASSERT_NO_FATAL_FAILURE(Drive({"naps"}, nobody));
  EXPECT_EQ(trace_.ftrace_events, 0u);
  if (KernelNote().find("perf_event_open") != std::string::npos) {
    EXPECT_THAT(KernelNote(), ::testing::HasSubstr("schedstat only: "));
    GTEST_SKIP() << KernelNote();
  }
  EXPECT_THAT(KernelNote(), ::testing::HasSubstr("own context switches only: "));
  EXPECT_THAT(KernelNote(), ::testing::AnyOf(::testing::HasSubstr("Permission denied"),
                                             ::testing::HasSubstr("tracefs is not mounted")));
  // Each nap is a time off the CPU.
  const std::vector<ReadSlice> waits = Slices("waiting");
  int matched = 0;
  for (const ReadSlice& nap : Slices("nap")) {
    matched += std::any_of(waits.begin(), waits.end(), [&](const ReadSlice& wait) {
      return wait.track == "off the CPU" &&
             Inside(nap, {wait.ts, wait.ts + wait.dur}) == wait.dur && wait.dur > 19'000'000;
    });
  }
  EXPECT_EQ(matched, 60);
}

TEST_F(KernelTest, SwitchedOffNothingIsMade) {
  ASSERT_NO_FATAL_FAILURE(Drive({"none"}, {}, {{"JANKBOX_OPTIONS", "ftrace=off"}}));
  EXPECT_EQ(KernelNote(), "kernel scheduling: schedstat only: switched off");
  EXPECT_EQ(trace_.ftrace_events, 0u);
  EXPECT_TRUE(Slices("waiting").empty());
}

}  // namespace
}  // namespace jankbox
