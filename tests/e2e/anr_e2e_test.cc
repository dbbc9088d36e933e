// ANRs of real processes, and what is none: stops, sleeps, debuggers, starved watchers. Thresholds
// are an eighth of the defaults, but for FullLengthTest; with JANKBOX_SOAK the defaults hold
// everywhere, and stops last 8 s.
#include <gmock/gmock.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/clock.h"
#include "base/file.h"
#include "report/report_file.h"
#include "tests/e2e/run_program.h"
#include "tests/perfetto/trace_reader.h"

namespace jankbox {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool g_full_length = getenv("JANKBOX_SOAK") != nullptr;

// Milliseconds at the full thresholds.
unsigned Scaled(unsigned ms) { return g_full_length ? ms : ms / 8; }

void Sleep(unsigned ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

class AnrTest : public EndToEndTest {
 protected:
  static std::map<std::string, std::string> Environment(unsigned anr_ms = Scaled(5000),
                                                        unsigned background_ms = Scaled(10'000)) {
    return {{"JANKBOX_OPTIONS", "slow_message_ms=" + std::to_string(Scaled(1500)) +
                                    ",lag_ms=" + std::to_string(Scaled(3000)) +
                                    ",anr_ms=" + std::to_string(anr_ms) +
                                    ",anr_background_ms=" + std::to_string(background_ms)}};
  }
  std::vector<std::string> Driver(const std::vector<std::string>& command) const {
    std::vector<std::string> argv = {Binary("anr_driver"), Folder("spool")};
    argv.insert(argv.end(), command.begin(), command.end());
    return argv;
  }
  // With these limits a late nap is not an incident of its own.
  static std::map<std::string, std::string> AnrsOnly() {
    const std::string ms = std::to_string(Scaled(5000));
    return {{"JANKBOX_OPTIONS", "slow_message_ms=" + ms + ",lag_ms=60000,anr_ms=" + ms}};
  }
  // Starts the driver and waits until its dispatch runs.
  void Start(const std::vector<std::string>& command,
             std::map<std::string, std::string> environment = Environment()) {
    program_ = std::make_unique<Program>(Driver(command), environment);
    ASSERT_TRUE(program_->WaitForOutput("ready", 20'000)) << program_->Wait(1000).err;
  }
  // Stops the program for at least `ms`; how long in fact.
  unsigned StopFor(unsigned ms) {
    const uint64_t begin_ns = MonotonicNs();
    program_->Signal(SIGSTOP);
    Sleep(ms);
    program_->Signal(SIGCONT);
    return static_cast<unsigned>((MonotonicNs() - begin_ns) / kNsPerMs);
  }
  // The reports at its end; the last, a manual one, knows what was refused.
  void Finish() {
    const Outcome outcome = program_->Wait(60'000);
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err << outcome.signal;
    Read();
  }
  void Run(const std::vector<std::string>& command,
           const std::map<std::string, std::string>& environment = Environment()) {
    Start(command, environment);
    Finish();
  }
  void Read() {
    incidents_.clear();
    refusals_.clear();
    for (const proto::Report& report : Reports(Folder("spool"))) {
      if (report.kind() != proto::MANUAL) {
        incidents_.push_back(report);
        continue;
      }
      for (const proto::Refusal& refusal : report.refusals()) {
        refusals_[refusal.reason()] = refusal.count();
      }
    }
  }
  void ExpectThatAStopIsNoIncident();
  void ExpectThatABlockIsOneIncident();
  static double Ms(uint64_t ns) { return static_cast<double>(ns) / 1e6; }
  static std::vector<std::string> Notes(const proto::Report& report) {
    return {report.notes().begin(), report.notes().end()};
  }

  std::unique_ptr<Program> program_;
  std::vector<proto::Report> incidents_;
  std::map<std::string, uint64_t> refusals_;
};

using Counts = std::map<std::string, uint64_t>;

void AnrTest::ExpectThatAStopIsNoIncident() {
  Start({"continued", "100"}, AnrsOnly());
  StopFor(Scaled(8000));
  Finish();
  EXPECT_THAT(incidents_, IsEmpty()) << incidents_[0].ShortDebugString();
  EXPECT_EQ(refusals_, Counts({{"stopped", 1}})) << program_->Wait(1).err;
}

TEST_F(AnrTest, StopInsideADispatchIsNoIncident) { ExpectThatAStopIsNoIncident(); }

TEST_F(AnrTest, StopIsTakenOffATrueBlock) {
  const unsigned block_ms = Scaled(6000);
  Start({"work", std::to_string(block_ms)});
  const unsigned stop_ms = StopFor(Scaled(8000));
  Finish();
  ASSERT_EQ(incidents_.size(), 1u);
  const proto::Report& report = incidents_[0];
  EXPECT_EQ(report.kind(), proto::ANR);
  EXPECT_EQ(report.revision(), 2u);
  EXPECT_NEAR(Ms(report.held_ns()), stop_ms, 200);
  EXPECT_GE(Ms(report.duration_ns()), block_ms - 200);
  EXPECT_LE(Ms(report.duration_ns()), block_ms + stop_ms / 2.0);
  EXPECT_EQ(Sum(report.verdict()), report.duration_ns());
  // On a busy machine it waits for its CPU after that.
  EXPECT_GT(report.verdict().sleeping_ns() + report.verdict().runnable_ns(),
            report.duration_ns() * 8 / 10);
  EXPECT_GT(report.verdict().sleeping_ns(), report.duration_ns() / 2);
  EXPECT_THAT(Notes(report), Contains(HasSubstr("the process was stopped (SIGSTOP or a freezer)")));
  EXPECT_EQ(refusals_, Counts());
}

void AnrTest::ExpectThatABlockIsOneIncident() {
  Start({"work", std::to_string(Scaled(6000) + 1500)});
  std::vector<proto::Report> early;
  for (int i = 0; i < 500 && early.empty(); ++i, Sleep(20)) early = Reports(Folder("spool"));
  ASSERT_EQ(early.size(), 1u) << "not told while it lasted";
  EXPECT_EQ(early[0].kind(), proto::ANR);
  EXPECT_TRUE(early[0].ongoing());
  Finish();
  ASSERT_EQ(incidents_.size(), 1u);
  const proto::Report& report = incidents_[0];
  EXPECT_EQ(report.id(), early[0].id());
  EXPECT_FALSE(report.ongoing());
  EXPECT_EQ(Ms(report.anr_limit_ns()), Scaled(5000));
  EXPECT_FALSE(report.background());
  const uint64_t block_ns = report.duration_ns() + report.held_ns();
  constexpr uint64_t kWindowNs = 10'000'000'000;  // the default
  if (block_ns < kWindowNs) {  // on a machine that stood still it may last longer
    EXPECT_LT(report.window().from_ns() + block_ns, report.window().to_ns())
        << "the window begins before the block";
  }
  EXPECT_EQ(Sum(report.verdict()), report.duration_ns());
  EXPECT_EQ(refusals_, Counts());
}

TEST_F(AnrTest, TrueBlockIsOneIncidentReportedWhileItLasts) { ExpectThatABlockIsOneIncident(); }

// The default thresholds, whole stops and blocks.
class FullLengthTest : public AnrTest {
 protected:
  void SetUp() override {
    AnrTest::SetUp();
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "lasts too long, and is run as released";
#endif
    g_full_length = true;
  }
};

TEST_F(FullLengthTest, StopOfEightSecondsIsNoIncident) { ExpectThatAStopIsNoIncident(); }

TEST_F(FullLengthTest, BlockOfSixSecondsIsOneIncident) { ExpectThatABlockIsOneIncident(); }

TEST_F(AnrTest, BlockShorterThanAnAnrIsALag) {
  Run({"work", std::to_string(Scaled(3400))}, Environment(5000));  // on a busy machine, too
  ASSERT_EQ(incidents_.size(), 1u);
  EXPECT_EQ(incidents_[0].kind(), proto::LAG);
  EXPECT_EQ(incidents_[0].revision(), 1u);
}

TEST_F(AnrTest, BackgroundHasALongerLimit) {
  Run({"background", std::to_string(Scaled(6000))}, Environment(Scaled(5000), 10'000));
  ASSERT_EQ(incidents_.size(), 1u);
  EXPECT_EQ(incidents_[0].kind(), proto::LAG);
  EXPECT_TRUE(incidents_[0].background());
  EXPECT_EQ(refusals_, Counts({{"background", 1}}));
  std::filesystem::remove_all(Folder("spool"));
  Run({"background", std::to_string(Scaled(11'000))});
  ASSERT_EQ(incidents_.size(), 1u);
  EXPECT_EQ(incidents_[0].kind(), proto::ANR);
  EXPECT_EQ(Ms(incidents_[0].anr_limit_ns()), Scaled(10'000));
}

TEST_F(AnrTest, SleepOfTheMachineIsNoIncident) {
  Run({"suspend", "100", "3600000"}, AnrsOnly());
  EXPECT_THAT(incidents_, IsEmpty());
  EXPECT_EQ(refusals_, Counts({{"suspended", 1}}));
}

TEST_F(AnrTest, StepsOfTheWallClockAreNothing) {
  Run({"wall", "100", "86400000"}, AnrsOnly());
  EXPECT_THAT(incidents_, IsEmpty());
  EXPECT_EQ(refusals_, Counts());
  std::filesystem::remove_all(Folder("spool"));
  Run({"wall", std::to_string(Scaled(6000)), "-86400000"});
  ASSERT_EQ(incidents_.size(), 1u);
  EXPECT_EQ(incidents_[0].kind(), proto::ANR);
  EXPECT_LE(Ms(incidents_[0].duration_ns()), Scaled(6000) * 2);  // and not a day
}

TEST_F(AnrTest, ThreadThatNothingIsDrawnOnIsNoIncident) {
  Run({"hidden", std::to_string(Scaled(8000))});
  EXPECT_THAT(incidents_, IsEmpty()) << incidents_[0].ShortDebugString();
  EXPECT_EQ(refusals_, Counts({{"not_rendering", 1}}));
}

TEST_F(AnrTest, UiThreadThatWasMadeSlowerIsReportedOnce) {
  program_ =
      std::make_unique<Program>(Driver({"nice", std::to_string(Scaled(2500))}), Environment());
  const Outcome outcome = program_->Wait(60'000);
  ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
  const auto times = [&](const std::string& what) {
    size_t count = 0;
    for (size_t at = outcome.err.find(what); at != std::string::npos;
         at = outcome.err.find(what, at + 1)) {
      ++count;
    }
    return count;
  };
  EXPECT_EQ(times("the UI thread's nice value is 19"), 1u) << outcome.err;
  EXPECT_EQ(times("the UI thread's timer slack is 100 us"), geteuid() == 0 ? 1u : 0u)
      << outcome.err;
  Read();
  ASSERT_EQ(incidents_.size(), 1u);
  EXPECT_THAT(Notes(incidents_[0]), Contains(HasSubstr("the UI thread's nice value is 19")));
}

class DeadlockTest : public AnrTest {
 protected:
  // Waits until the ANR's report is there; returns how long that took.
  std::chrono::milliseconds Deadlock() {
    Start({"deadlock", "60000"});
    const auto begin = std::chrono::steady_clock::now();
    Await();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 begin);
  }
  void Await() {
    for (int i = 0; i < 500 && incidents_.empty(); ++i, Sleep(20)) Read();
    ASSERT_EQ(incidents_.size(), 1u);
    const std::string output = program_->Output();
    other_tid_ = atoi(output.c_str() + output.find("crosswise ") + strlen("crosswise "));
    sentence_ = "deadlock: thread anr_driver (" + std::to_string(program_->pid()) +
                ") holds a lock that thread crosswise (" + std::to_string(other_tid_) +
                ") waits for, and vice versa";
  }
  static bool Names(const proto::ThreadAtAnr& thread, const std::string& function) {
    return std::any_of(thread.frames().begin(), thread.frames().end(),
                       [&](const proto::Frame& frame) { return frame.function() == function; });
  }

  int32_t other_tid_ = 0;
  std::string sentence_;
};

TEST_F(DeadlockTest, OfTwoMutexesIsNamedWithBothThreadsAndStacks) {
  const std::chrono::milliseconds bound(Scaled(5000) + 2000);
  std::chrono::milliseconds told = Deadlock();
  // Reports are written at the lowest priority: a busy machine gets two more chances.
  for (int attempt = 1; attempt < 3 && told > bound; ++attempt) {
    std::filesystem::remove_all(Folder("spool"));
    incidents_.clear();
    told = Deadlock();
  }
  EXPECT_LE(told, bound);
  const proto::Report& report = incidents_[0];
  EXPECT_EQ(report.kind(), proto::ANR);
  EXPECT_TRUE(report.ongoing());
  EXPECT_THAT(report.verdict().summary(), HasSubstr(sentence_));
  EXPECT_THAT(Notes(report), Contains(sentence_));
  ASSERT_EQ(report.threads_size(), 2) << report.ShortDebugString();
  EXPECT_EQ(report.threads(0).tid(), program_->pid());
  EXPECT_EQ(report.threads(0).waits_for_tid(), other_tid_);
  EXPECT_EQ(report.threads(0).wait(), "lock");
  EXPECT_TRUE(report.threads(0).deadlocked());
  EXPECT_TRUE(Names(report.threads(0), "take_first_then_second"));
  EXPECT_EQ(report.threads(1).tid(), other_tid_);
  EXPECT_EQ(report.threads(1).waits_for_tid(), program_->pid());
  EXPECT_TRUE(report.threads(1).deadlocked());
  EXPECT_TRUE(Names(report.threads(1), "take_second_then_first"));
  std::string error;
  const testing::TraceContent trace = testing::ReadTrace(
      ReadFile(Folder("spool") + "/" + report.id() + kReportFileSuffix, 64 << 20).value(), &error);
  EXPECT_EQ(error, "");
  EXPECT_TRUE(
      std::any_of(trace.instants.begin(), trace.instants.end(),
                  [&](const testing::ReadInstant& instant) { return instant.name == sentence_; }));
  for (const int32_t tid : {program_->pid(), other_tid_}) {
    EXPECT_TRUE(std::any_of(trace.samples.begin(), trace.samples.end(),
                            [&](const auto& sample) { return sample.tid == tid; }));
  }
}

TEST_F(DeadlockTest, IsStillNamedWhereTheProcessWasKilledInIt) {
  Deadlock();
  Sleep(300);
  program_->Signal(SIGKILL);
  program_->Wait(5000);
  ASSERT_EQ(RunProgram(Driver({"work", "10"}), AnrsOnly()).exit_status, 0);
  Read();
  ASSERT_EQ(incidents_.size(), 1u);
  EXPECT_EQ(incidents_[0].kind(), proto::ANR);
  EXPECT_GT(incidents_[0].threads_size(), 0);
  EXPECT_EQ(incidents_[0].end_reason(), "unknown");
  EXPECT_THAT(Notes(incidents_[0]), Contains(sentence_));
  EXPECT_THAT(incidents_[0].verdict().summary(), HasSubstr(sentence_));
}

class TracedThread {
 public:
  explicit TracedThread(pid_t tid) : tid_(tid) { attached_ = ptrace(PTRACE_SEIZE, tid, 0, 0) == 0; }
  bool attached() const { return attached_; }
  void Interrupt() {
    int status = 0;
    ASSERT_EQ(ptrace(PTRACE_INTERRUPT, tid_, 0, 0), 0);
    ASSERT_EQ(waitpid(tid_, &status, __WALL), tid_);
  }
  void Continue() { ASSERT_EQ(ptrace(PTRACE_CONT, tid_, 0, 0), 0); }
  void Detach() { ASSERT_EQ(ptrace(PTRACE_DETACH, tid_, 0, 0), 0); }

 private:
  const pid_t tid_;
  bool attached_ = false;
};

TEST_F(AnrTest, StopByADebuggerIsNoIncident) {
  Start({"continued", "100"}, AnrsOnly());
  TracedThread debugger(program_->pid());
  if (!debugger.attached()) GTEST_SKIP() << "ptrace is not permitted";
  debugger.Interrupt();
  Sleep(Scaled(8000));
  debugger.Detach();
  program_->Signal(SIGCONT);
  Finish();
  EXPECT_THAT(incidents_, IsEmpty()) << incidents_[0].ShortDebugString();
  EXPECT_EQ(refusals_, Counts({{"traced", 1}}));
}

TEST_F(AnrTest, BlockUnderADebuggerIsNoAnr) {
  std::map<std::string, std::string> environment = Environment();
  environment["ASAN_OPTIONS"] = "detect_leaks=0";  // which needs ptrace for itself
  Start({"work", std::to_string(Scaled(6000))}, environment);
  TracedThread debugger(program_->pid());
  if (!debugger.attached()) GTEST_SKIP() << "ptrace is not permitted";
  Finish();
  ASSERT_EQ(incidents_.size(), 1u);
  EXPECT_EQ(incidents_[0].kind(), proto::LAG);
  EXPECT_EQ(refusals_, Counts({{"traced", 1}}));
}

TEST_F(AnrTest, StarvedWatcherIsNoAnr) {
  Run({"hog", std::to_string(Scaled(6000))});
  if (program_->Output().find("no hog") != std::string::npos) {
    GTEST_SKIP() << "SCHED_FIFO is not permitted, or there is one CPU only";
  }
  ASSERT_EQ(incidents_.size(), 1u);
  EXPECT_EQ(incidents_[0].kind(), proto::LAG) << incidents_[0].ShortDebugString();
  EXPECT_THAT(Notes(incidents_[0]), Contains(HasSubstr("watcher thread got no CPU for")));
  EXPECT_EQ(refusals_, Counts({{"watcher_late", 1}}));
}

}  // namespace
}  // namespace jankbox
