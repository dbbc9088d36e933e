// Planted causes and the verdict that the sealed report gives of them: with the SDK linked in and
// with the agent, as root (the kernel's switches) and as the user nobody (own switches, schedstat).
// 5 runs of each cause, 10 with `./dev test --all`, 100 with JANKBOX_SOAK=1.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/e2e/run_program.h"
#include "tests/perfetto/trace_reader.h"

namespace jankbox {
namespace {

using ::testing::HasSubstr;

constexpr int kRuns = 5;                      // of a process
constexpr uint64_t kMixedCpuNs = 60'000'000;  // of the cause "mixed", beside its writes

int Processes() {
  const char* soak = getenv("JANKBOX_SOAK");
  if (soak != nullptr && std::string(soak) == "1") return 20;
  return getenv("JANKBOX_TEST_ALL") != nullptr ? 2 : 1;
}

// What the program measured of one run, in ns.
struct Planted {
  unsigned long long wall = 0;
  unsigned long long lock = 0;
  unsigned long long cpu = 0;
  unsigned long long disk = 0;
};

struct Share {
  const char* name;
  uint64_t ns;
};

std::vector<Share> SharesOf(const proto::Verdict& v) {
  return {{"running", v.running_ns()}, {"runnable", v.runnable_ns()}, {"lock", v.lock_ns()},
          {"disk", v.disk_ns()},       {"fault", v.fault_ns()},       {"ipc", v.ipc_ns()},
          {"gc", v.gc_ns()},           {"sleeping", v.sleeping_ns()}, {"blocked", v.blocked_ns()},
          {"unknown", v.unknown_ns()}};
}

std::string Dominant(const proto::Verdict& verdict) {
  Share most = {"", 0};
  for (const Share& share : SharesOf(verdict)) {
    if (share.ns > most.ns) most = share;
  }
  return most.name;
}

uint64_t Sum(const proto::Verdict& verdict) {
  uint64_t sum = 0;
  for (const Share& share : SharesOf(verdict)) sum += share.ns;
  return sum;
}

// Running, runnable, or off the CPU for whatever reason: what is reported without any permission.
std::string DominantOfThree(const proto::Verdict& v) {
  const uint64_t running = v.running_ns() + v.fault_ns();
  const uint64_t off = Sum(v) - running - v.runnable_ns() - v.unknown_ns();
  if (running >= off && running >= v.runnable_ns()) return "running";
  return v.runnable_ns() >= off ? "runnable" : "off";
}

class VerdictE2eTest : public EndToEndTest {
 protected:
  void SetUp() override {
    EndToEndTest::SetUp();
    ASSERT_EQ(chmod(root_.c_str(), 0777), 0);
    // A real disk: /tmp may be memory.
    char scratch[] = "/var/tmp/jankbox-verdict-XXXXXX";
    ASSERT_NE(mkdtemp(scratch), nullptr);
    scratch_ = scratch;
    ASSERT_EQ(chmod(scratch, 0777), 0);
  }
  void TearDown() override {
    RunProgram({"rm", "-rf", scratch_});
    EndToEndTest::TearDown();
  }

  // Five runs of `cause`; the program, with `before` in front of it, leaves one report of each.
  void Plant(const std::string& cause, const std::vector<std::string>& before = {}) {
    std::vector<std::string> argv = before;
    const std::string runs = std::to_string(kRuns);
    spool_ = Folder("spool" + std::to_string(++spools_));
    for (const std::string& word : {Binary("verdict_driver"), cause, runs, scratch_, spool_}) {
      argv.push_back(word);
    }
    Collect(RunProgram(argv));
  }

  void PlantUnderAgent(const std::string& cause) {
    spool_ = Folder("spool" + std::to_string(++spools_));
    std::map<std::string, std::string> environment = ForeignEnvironment();
    environment["JANKBOX_OPTIONS"] = "slow_message_ms=60";
    Collect(RunProgram({Binary("jankbox"), "run", "--dir", spool_, "--", Binary("verdict_causes"),
                        cause, std::to_string(kRuns), scratch_},
                       environment));
  }

  void Collect(const Outcome& outcome) {
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    planted_.clear();
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      Planted run;
      ASSERT_EQ(sscanf(line.c_str(), "wall %llu lock %llu cpu %llu disk %llu", &run.wall, &run.lock,
                       &run.cpu, &run.disk),
                4)
          << line;
      planted_.push_back(run);
    }
    reports_ = Reports(spool_);
    ASSERT_EQ(reports_.size(), static_cast<size_t>(kRuns)) << outcome.err;
    for (const proto::Report& report : reports_) {
      ExpectWhole(report);
      printf("%6.1f ms: %s\n", static_cast<double>(report.duration_ns()) / 1e6,
             report.verdict().summary().c_str());
    }
  }

  // Whatever the cause, and however the time was reported.
  static void ExpectWhole(const proto::Report& report) {
    const proto::Verdict& verdict = report.verdict();
    EXPECT_EQ(Sum(verdict), report.duration_ns());
    std::map<std::string, uint64_t> parts;
    for (const proto::Verdict::Share& share : verdict.shares()) {
      parts[share.name()] += share.ns();
      EXPECT_FALSE(share.source().empty());
      EXPECT_FALSE(share.detail().empty());
    }
    for (const Share& share : SharesOf(verdict)) EXPECT_EQ(parts[share.name], share.ns);
    EXPECT_THAT(verdict.summary(), HasSubstr(" % "));
  }

  // `dominant`, unless only writes were planted: on a fast disk, or behind a busy hypervisor, they
  // are mostly CPU time.
  static ::testing::Matcher<std::string> DominantOf(const Planted& run,
                                                    const std::string& dominant) {
    const double on_cpu = run.lock == 0 && run.disk > 0
                              ? static_cast<double>(run.cpu) / static_cast<double>(run.disk)
                              : 0;
    // A disk that others keep busy may take longer than the lock that was planted beside it.
    if (run.lock != 0 && run.disk > run.lock * 3 / 4) return ::testing::AnyOf(dominant, "disk");
    if (on_cpu < 0.4) return dominant;
    if (on_cpu > 0.6) return std::string("running");
    return ::testing::AnyOf(dominant, "running");
  }

  using Dominance = std::string (*)(const proto::Verdict&);
  void ExpectEach(const std::string& dominant, Dominance dominant_of = Dominant) {
    for (size_t i = 0; i < reports_.size(); ++i) {
      EXPECT_THAT(dominant_of(reports_[i].verdict()),
                  i < planted_.size() ? DominantOf(planted_[i], dominant)
                                      : ::testing::Matcher<std::string>(dominant))
          << reports_[i].ShortDebugString();
    }
  }
  void ExpectSentences(const ::testing::Matcher<const std::string&>& matcher) {
    for (const proto::Report& report : reports_) EXPECT_THAT(report.verdict().summary(), matcher);
  }

  // Each report has such a note, and its trace an arrow from a thread to the end of that wait.
  void ExpectWaker(const std::string& note) {
    for (const proto::Report& report : reports_) {
      EXPECT_THAT(
          std::vector<std::string>(report.notes().begin(), report.notes().end()),
          ::testing::Contains(::testing::ContainsRegex("The longest wait, [0-9]+ ms, " + note)));
      const testing::TraceContent trace = TraceOf(report);
      std::map<uint64_t, testing::ReadInstant> wakers;
      int arrows = 0;
      for (const testing::ReadInstant& instant : trace.instants) {
        for (const uint64_t flow : instant.flows) wakers[flow] = instant;
        if (!instant.name.starts_with("woken by ")) continue;
        ASSERT_EQ(instant.ended_flows.size(), 1u);
        EXPECT_EQ(instant.tid, report.tid());
        EXPECT_NE(wakers[instant.ended_flows[0]].tid, report.tid());
        EXPECT_THAT(wakers[instant.ended_flows[0]].name, ::testing::StartsWith("wakes "));
        ++arrows;
      }
      EXPECT_GT(arrows, 0);
    }
  }
  testing::TraceContent TraceOf(const proto::Report& report) const {
    std::string error;
    const std::string path = spool_ + "/" + report.id() + kReportFileSuffix;
    testing::TraceContent trace = testing::ReadTrace(ReadFile(path, 64 << 20).value(), &error);
    EXPECT_EQ(error, "");
    return trace;
  }

  static std::vector<std::string> FunctionsOf(const proto::Verdict& verdict) {
    std::vector<std::string> functions;
    for (const proto::Frame& frame : verdict.lock_owner_frames()) {
      functions.push_back(frame.function());
    }
    return functions;
  }

  static std::string WhyNotRoot() {
    if (geteuid() != 0) return "only root gets the kernel's switches";
    const bool mounted = access("/sys/kernel/tracing/trace_marker", F_OK) == 0;
    return mounted ? "" : "tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing";
  }
  // The program runs as nobody; its main thread keeps the priority that root gave it.
  static std::vector<std::string> AsNobody() {
    if (geteuid() != 0) return {};
    return {"chrt", "-R", "-r", "1", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  }

  std::string scratch_;
  std::string spool_;
  int spools_ = 0;
  std::vector<Planted> planted_;
  std::vector<proto::Report> reports_;
};

struct Cause {
  const char* name;
  const char* dominant;  // share
  const char* of_three;
  const char* sentence;  // part of it
  // The same on a machine whose CPUs other programs keep busy.
  const char* when_overloaded = sentence;
};

void PrintTo(const Cause& cause, std::ostream* out) { *out << cause.name; }

constexpr Cause kCauses[] = {
    {"lock", "lock", "off", "waiting for a lock held by 'decoder' (tid "},
    {"disk", "disk", "off", " on a regular file"},
    {"fault", "fault", "running", "in page faults (estimate)"},
    {"starve", "runnable", "runnable",
     "ready to run while others had the CPU: ", "waiting for a CPU of an overloaded machine: "},
    {"busy", "running", "running", "on the CPU"},
    {"sleep", "sleeping", "off", "asleep"},
    {"mixed", "lock", "off", "waiting for a lock held by 'decoder' (tid "},
    {"condition", "blocked", "off", "waiting for a condition"},
    {"ipc", "ipc", "off", "in read on a socket"},
};

class CauseTest : public VerdictE2eTest, public ::testing::WithParamInterface<Cause> {};

INSTANTIATE_TEST_SUITE_P(Planted, CauseTest, ::testing::ValuesIn(kCauses),
                         [](const auto& cause) { return std::string(cause.param.name); });

TEST_P(CauseTest, AsRootTheDominantShareIsRight) {
  if (const std::string why = WhyNotRoot(); !why.empty()) GTEST_SKIP() << why;
  for (int process = 0; process < Processes(); ++process) {
    ASSERT_NO_FATAL_FAILURE(Plant(GetParam().name));
    ExpectEach(GetParam().dominant);
    ExpectSentences(
        ::testing::AnyOf(HasSubstr(GetParam().sentence), HasSubstr(GetParam().when_overloaded)));
  }
}

// The kernel says who ended a wait, whatever it was for.
TEST_F(VerdictE2eTest, ThreadThatEndedTheLongestWaitIsNamed) {
  if (const std::string why = WhyNotRoot(); !why.empty()) GTEST_SKIP() << why;
  for (const char* cause : {"lock", "condition"}) {
    ASSERT_NO_FATAL_FAILURE(Plant(cause));
    ExpectWaker("ended when thread .*\\[[0-9]+\\] woke it");
  }
}

// Without the kernel it was the one that had the lock.
TEST_F(VerdictE2eTest, OwnerOfTheLockEndedTheLongestWait) {
  ASSERT_NO_FATAL_FAILURE(Plant("lock", AsNobody()));
  ExpectWaker("ended when thread decoder \\[[0-9]+\\], which held the lock, released it");
}

TEST_P(CauseTest, AsUserNobodyRunningRunnableAndOffAreRight) {
  for (int process = 0; process < Processes(); ++process) {
    ASSERT_NO_FATAL_FAILURE(Plant(GetParam().name, AsNobody()));
    ExpectEach(GetParam().of_three, DominantOfThree);
    for (const proto::Report& report : reports_) {
      for (const std::string& source : report.verdict().sources()) EXPECT_NE(source, "ftrace");
    }
  }
}

TEST_F(VerdictE2eTest, MixedCausesHaveTheirShares) {
  if (const std::string why = WhyNotRoot(); !why.empty()) GTEST_SKIP() << why;
  ASSERT_NO_FATAL_FAILURE(Plant("mixed"));
  for (size_t i = 0; i < reports_.size(); ++i) {
    const proto::Verdict& verdict = reports_[i].verdict();
    const auto wall = static_cast<double>(reports_[i].duration_ns());
    EXPECT_NEAR(static_cast<double>(verdict.lock_ns()), static_cast<double>(planted_[i].lock),
                0.05 * wall);
    EXPECT_GE(static_cast<double>(verdict.running_ns()), 0.9 * kMixedCpuNs);
    // The kernel accounts a thread for the switch to it, a moment before its switch event: the
    // writes are many such moments.
    EXPECT_GE(static_cast<double>(verdict.running_ns() + verdict.runnable_ns()),
              static_cast<double>(planted_[i].cpu) * 0.9);
    // Others of the machine, and its host, may have had the CPU meanwhile.
    const uint64_t not_waiting = planted_[i].cpu - kMixedCpuNs + verdict.runnable_ns();
    EXPECT_GT(2 * verdict.disk_ns() + not_waiting, planted_[i].disk) << verdict.ShortDebugString();
    EXPECT_LE(verdict.disk_ns(), planted_[i].disk);
  }
}

TEST_F(VerdictE2eTest, FrameThatNoSampleSawIsToldAsWellAsALongMessage) {
  if (const std::string why = WhyNotRoot(); !why.empty()) GTEST_SKIP() << why;
  ASSERT_NO_FATAL_FAILURE(Plant("frame"));
  ExpectEach("lock");
  for (size_t i = 0; i < reports_.size(); ++i) {
    EXPECT_EQ(reports_[i].kind(), proto::JANK);
    EXPECT_EQ(reports_[i].sample_count(), 0u);
    const proto::Verdict& verdict = reports_[i].verdict();
    EXPECT_NEAR(static_cast<double>(verdict.lock_ns()), static_cast<double>(planted_[i].lock), 3e6);
    EXPECT_EQ(verdict.unknown_ns(), 0u);
  }
  ExpectSentences(HasSubstr("held by 'decoder' (tid "));
}

// The owner's stack stands in the report, and in the trace as samples of the owner.
TEST_F(VerdictE2eTest, LockIsToldWithItsOwnersStack) {
  ASSERT_NO_FATAL_FAILURE(Plant("lock", AsNobody()));
  ExpectSentences(::testing::ContainsRegex(
      "waiting for a lock held by 'decoder' .tid [0-9]+. in decode_image, in bind_feed"));
  const proto::Verdict& verdict = reports_[0].verdict();
  EXPECT_EQ(verdict.lock_owner(), "decoder");
  EXPECT_THAT(FunctionsOf(verdict), ::testing::Contains("decode_image"));
  const testing::TraceContent trace = TraceOf(reports_[0]);
  bool seen = false;
  for (const testing::ReadSample& sample : trace.samples) {
    for (const testing::ReadFrameOfStack& frame : sample.frames) {
      seen = seen || (sample.tid == verdict.lock_owner_tid() && frame.function == "decode_image");
    }
  }
  EXPECT_TRUE(seen);
}

// All that is left is the ring: samples of states, and the thread's own record of its wait.
TEST_F(VerdictE2eTest, RecoveredReportTellsTheLock) {
  spool_ = Folder("spool");
  Program program({Binary("verdict_driver"), "hang", "1", scratch_, spool_});
  ASSERT_TRUE(program.WaitForOutput("hangs", 20'000));
  usleep(500'000);
  program.Signal(SIGKILL);
  program.Wait(5'000);
  ASSERT_EQ(
      RunProgram({Binary("jankbox"), "run", "--dir", spool_, "--", "true"}, ForeignEnvironment())
          .exit_status,
      0);
  reports_ = Reports(spool_);
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0].kind(), proto::RECOVERED);
  ExpectWhole(reports_[0]);
  ExpectEach("lock");
  ExpectSentences(HasSubstr("waiting for a lock held by 'decoder' (tid "));
  for (const std::string& source : reports_[0].verdict().sources()) {
    EXPECT_THAT(source, ::testing::AnyOf("hooks", "thread states", "system calls"));
  }
}

TEST_F(VerdictE2eTest, AgentTellsTheSame) {
  for (const char* cause : {"lock", "starve"}) {
    ASSERT_NO_FATAL_FAILURE(PlantUnderAgent(cause));
    ExpectEach(std::string(cause) == "lock" ? "lock" : "runnable");
  }
}

}  // namespace
}  // namespace jankbox
