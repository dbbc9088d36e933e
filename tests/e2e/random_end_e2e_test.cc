// Programs that end at random moments: in an idle phase, in a short message, in an ANR. No ANR that
// was sealed before is lost, every unclean end has its report, and an orderly one has none. 10 ends
// of each kind, 50 with `./dev test --all`, 1,000 with JANKBOX_SOAK=1.
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/e2e/run_program.h"

namespace jankbox {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Every ANR is to be a report here, and soon one.
constexpr char kShortLimits[] = "anr_ms=400,lag_ms=300,slow_message_ms=200,repeats=every";
// The main thread and the three that the program has beside it.
constexpr int kThreads = 4;

struct End {
  const char* how;     // as fixtures/ends.c has it
  const char* reason;  // what its parent knows
  int signal;
  const char* known = "unknown";  // what the next start may say
};
constexpr End kUncleanEnds[] = {{"kill", "SIGKILL", SIGKILL},
                                {"segv", "SIGSEGV", SIGSEGV},
                                {"crash", "SIGSEGV", SIGSEGV},
                                {"abort", "SIGABRT", SIGABRT, "SIGABRT"},
                                {"raise", "SIGBUS", SIGBUS, "SIGBUS"}};
constexpr End kOrderlyEnds[] = {{"exit", "", 0},  {"_exit", "", 0},  {"quick_exit", "", 0},
                                {"execv", "", 0}, {"execle", "", 0}, {"term", "SIGTERM", SIGTERM}};

class RandomEndTest : public EndToEndTest {
 protected:
  static constexpr int kAtATime = 5;

  // A program that ends as planned; its reports go to `folder`.
  struct Ending {
    const End* end;
    std::string folder;
    std::unique_ptr<Program> program;
  };

  void SetUp() override {
    EndToEndTest::SetUp();
    if (getenv("JANKBOX_TEST_PRELOAD") != nullptr) {
      GTEST_SKIP() << "the sanitizer handles the signals that end the programs";
    }
  }

  static int Ends() {
    if (getenv("JANKBOX_SOAK") != nullptr) return 1000;
    return getenv("JANKBOX_TEST_ALL") != nullptr ? 50 : 10;
  }

  // A round of the program is 50 ms of short messages, 900 ms in one message, 150 ms without any.
  std::string Moment() { return std::to_string(random_() % 1500); }

  template <size_t kEnds>
  const End* AnyOfThese(const End (&ends)[kEnds]) {
    return &ends[random_() % kEnds];
  }

  Ending StartWithSdk(const std::string& folder) {
    const End* end = AnyOfThese(kUncleanEnds);
    return {end, folder,
            std::make_unique<Program>(
                std::vector<std::string>{Binary("ends_driver"), folder, end->how, Moment()},
                Environment{{"JANKBOX_OPTIONS", kShortLimits}})};
  }
  // All that run at a time share a folder: each command is to recover its own program.
  Ending StartUnderRun(const End* end, const std::string& folder) {
    Environment environment = ForeignEnvironment();
    environment["JANKBOX_OPTIONS"] = kShortLimits;
    return {end, folder,
            std::make_unique<Program>(
                std::vector<std::string>{Binary("jankbox"), "run", "--dir", folder, "--",
                                         Binary("ends"), "-", end->how, Moment()},
                environment)};
  }
  // The reports of the program that `jankbox run` started.
  static std::vector<proto::Report> ReportsOf(const Ending& ending, const Outcome& outcome) {
    int pid = 0;
    EXPECT_EQ(sscanf(outcome.out.c_str(), "ready %d", &pid), 1) << outcome.out << outcome.err;
    std::vector<proto::Report> reports = Reports(ending.folder);
    std::erase_if(reports, [&](const proto::Report& report) { return report.pid() != pid; });
    return reports;
  }

  // One that was sealed as an ANR. A process may die after its watcher saw the ANR and before it
  // was sealed: what is recovered of it has neither the limit nor threads.
  static bool IsSealedAnr(const proto::Report& report) {
    return report.kind() == proto::ANR && report.anr_limit_ns() != 0;
  }
  static std::vector<proto::Report> EndsIn(const std::vector<proto::Report>& reports) {
    std::vector<proto::Report> ends;
    std::copy_if(reports.begin(), reports.end(), std::back_inserter(ends),
                 [](const proto::Report& report) { return !report.end_reason().empty(); });
    return ends;
  }

  void EndSomeWithSdk(const std::string& folder);
  void ExpectAnrsKept(const std::vector<proto::Report>& sealed,
                      const std::vector<proto::Report>& after);
  void ExpectRightSignal(const Ending& ending, const Outcome& outcome);
  void ExpectNoEndReported(const Ending& ending, const Outcome& outcome);
  void PrintEnds() const;

  std::mt19937 random_{20260301};
  int anrs_ = 0;             // that were sealed before the end
  std::map<int, int> ends_;  // by kind of report
};

void RandomEndTest::ExpectAnrsKept(const std::vector<proto::Report>& sealed,
                                   const std::vector<proto::Report>& after) {
  for (const proto::Report& anr : sealed) {
    if (!IsSealedAnr(anr)) continue;
    ++anrs_;
    EXPECT_GE(anr.threads_size(), kThreads) << anr.id();
    const auto found = std::find_if(after.begin(), after.end(), [&](const proto::Report& report) {
      return report.id() == anr.id();
    });
    ASSERT_NE(found, after.end()) << anr.id();
    EXPECT_EQ(found->kind(), proto::ANR) << anr.id();
    EXPECT_EQ(found->anr_limit_ns(), anr.anr_limit_ns()) << anr.id();
    ASSERT_EQ(found->threads_size(), anr.threads_size()) << anr.id();
    for (int i = 0; i < anr.threads_size(); ++i) {
      EXPECT_EQ(found->threads(i).SerializeAsString(), anr.threads(i).SerializeAsString());
    }
  }
}

void RandomEndTest::EndSomeWithSdk(const std::string& folder) {
  std::vector<Ending> endings;
  for (int i = 0; i < kAtATime; ++i) endings.push_back(StartWithSdk(folder));
  for (const Ending& ending : endings) {
    EXPECT_EQ(ending.program->Wait(60'000).signal, ending.end->signal) << ending.end->how;
  }
  const std::vector<proto::Report> sealed = Reports(folder);
  ASSERT_EQ(RunProgram({Binary("sdk_driver"), folder, "idle"}).exit_status, 0);
  const std::vector<proto::Report> after = Reports(folder);
  ASSERT_NO_FATAL_FAILURE(ExpectAnrsKept(sealed, after));
  for (const Ending& ending : endings) {
    SCOPED_TRACE(ending.end->how);
    std::vector<proto::Report> ends = EndsIn(after);
    std::erase_if(
        ends, [&](const proto::Report& report) { return report.pid() != ending.program->pid(); });
    ASSERT_THAT(ends, SizeIs(1)) << ending.program->pid() << ": one death, one report";
    EXPECT_THAT(ends[0].end_reason(), AnyOf("unknown", ending.end->known));
    EXPECT_THAT(ends[0].kind(),
                AnyOf(proto::EXIT, proto::RECOVERED, proto::ANR, proto::LAG, proto::SLOW_MESSAGE));
    ++ends_[ends[0].kind()];
  }
}

void RandomEndTest::ExpectRightSignal(const Ending& ending, const Outcome& outcome) {
  EXPECT_EQ(outcome.signal, ending.end->signal) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr(std::string("the program was ended by ") + ending.end->reason));
  const std::vector<proto::Report> reports = ReportsOf(ending, outcome);
  for (const proto::Report& report : reports) {
    if (!IsSealedAnr(report)) continue;
    ++anrs_;
    EXPECT_GE(report.threads_size(), kThreads) << report.id();
  }
  const std::vector<proto::Report> ends = EndsIn(reports);
  ASSERT_THAT(ends, SizeIs(1)) << outcome.err;
  EXPECT_EQ(ends[0].end_reason(), ending.end->reason);
  EXPECT_EQ(ends[0].end_evidence(), "wait status");
  ++ends_[ends[0].kind()];
}

void RandomEndTest::ExpectNoEndReported(const Ending& ending, const Outcome& outcome) {
  EXPECT_EQ(outcome.signal, ending.end->signal) << outcome.err;
  EXPECT_EQ(outcome.exit_status, ending.end->signal == 0 ? 0 : -1) << outcome.err;
  for (const proto::Report& report : ReportsOf(ending, outcome)) {
    EXPECT_NE(report.kind(), proto::EXIT) << outcome.err;
    // Who ends a program that does not respond has a report of that.
    if (!report.end_reason().empty()) {
      EXPECT_EQ(report.end_reason(), ending.end->reason) << outcome.err;
      EXPECT_GE(report.duration_ns(), 200'000'000u) << outcome.err;
    }
    anrs_ += IsSealedAnr(report) ? 1 : 0;
  }
}

void RandomEndTest::PrintEnds() const {
  printf("%d ANRs before the ends", anrs_);
  for (const auto& [kind, count] : ends_) {
    printf("; %d %s", count, proto::Kind_Name(static_cast<proto::Kind>(kind)).c_str());
  }
  printf("\n");
}

TEST_F(RandomEndTest, WithTheSdkNoAnrAndNoUncleanEndIsLost) {
  for (int done = 0; done < Ends() && !HasFailure(); done += kAtATime) {
    EndSomeWithSdk(Folder("spool" + std::to_string(done)));
  }
  if (Ends() > 10) {  // of a few, none may have lasted long enough
    EXPECT_GT(anrs_, 0);
  }
  EXPECT_GT(ends_[proto::EXIT], 0);
  EXPECT_GT(ends_[proto::ANR] + ends_[proto::RECOVERED], 0);
  PrintEnds();
}

TEST_F(RandomEndTest, RunReportsTheSignalOfEachUncleanEnd) {
  for (int done = 0; done < Ends() && !HasFailure(); done += kAtATime) {
    const std::string folder = Folder("run" + std::to_string(done));
    std::vector<Ending> endings;
    for (int i = 0; i < kAtATime; ++i) {
      endings.push_back(StartUnderRun(AnyOfThese(kUncleanEnds), folder));
    }
    for (const Ending& ending : endings) {
      SCOPED_TRACE(ending.end->how);
      ExpectRightSignal(ending, ending.program->Wait(60'000));
    }
  }
  if (Ends() > 10) {  // of a few, none may have lasted long enough
    EXPECT_GT(anrs_, 0);
  }
  EXPECT_GT(ends_[proto::EXIT], 0);
  PrintEnds();
}

TEST_F(RandomEndTest, RunReportsNoOrderlyEnd) {
  for (int done = 0; done < Ends() && !HasFailure(); done += kAtATime) {
    const std::string folder = Folder("run" + std::to_string(done));
    std::vector<Ending> endings;
    for (int i = 0; i < kAtATime; ++i) {
      endings.push_back(StartUnderRun(AnyOfThese(kOrderlyEnds), folder));
    }
    for (const Ending& ending : endings) {
      SCOPED_TRACE(ending.end->how);
      ExpectNoEndReported(ending, ending.program->Wait(60'000));
    }
  }
  EXPECT_EQ(RunProgram({"find", runtime_, "-name", "*.jbxring"}).out, "") << "no ring is left";
  PrintEnds();
}

}  // namespace
}  // namespace jankbox
