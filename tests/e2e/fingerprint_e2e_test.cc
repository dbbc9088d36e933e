// The same cause has the same fingerprint: in every build of a program, run, and lap of the ring.
#include <algorithm>

#include "tests/e2e/run_program.h"

namespace jankbox {
namespace {

class FingerprintTest : public EndToEndTest, public testing::WithParamInterface<const char*> {
 protected:
  // The only report of one run of build `build`, with `calls` small calls ahead of the slow ones.
  proto::Report Run(int build, int calls) {
    const std::string folder = Folder("run" + std::to_string(++runs_));
    const std::string program = "rebuilt_" + std::string(GetParam()) + std::to_string(build);
    const Outcome outcome = RunProgram({Binary(program), folder, std::to_string(calls)});
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    const std::vector<proto::Report> reports = Reports(folder);
    EXPECT_EQ(reports.size(), 1u);
    return reports.empty() ? proto::Report() : reports[0];
  }

  int runs_ = 0;
};

TEST_P(FingerprintTest, IsThatOfTheCauseInThreeBuilds) {
  const proto::Report first = Run(1, 0);
  EXPECT_EQ(first.fingerprint().size(), 32u);
  for (int build = 1; build <= 3; ++build) {
    EXPECT_EQ(Run(build, 0).fingerprint(), first.fingerprint()) << build;
  }
}

// 2 x 100,000 events are twice the ring: the outer calls' begins are long gone.
using LappedFingerprintTest = FingerprintTest;
TEST_P(LappedFingerprintTest, IsTheSameWhenTheRingWentRound) {
  const proto::Report lapped = Run(1, 100'000);
  EXPECT_EQ(lapped.fingerprint(), Run(1, 0).fingerprint());
  const auto& methods = lapped.methods();
  ASSERT_GE(methods.size(), 3);
  EXPECT_EQ(methods[0].function(), "HandleClick");
  EXPECT_EQ(methods[0].depth(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Builds, FingerprintTest,
                         testing::Values("traced", "instrumented", "sampled"),
                         [](const auto& how) { return how.param; });

INSTANTIATE_TEST_SUITE_P(Builds, LappedFingerprintTest, testing::Values("traced", "instrumented"),
                         [](const auto& how) { return how.param; });

}  // namespace
}  // namespace jankbox
