#include <gmock/gmock.h>
#include <signal.h>

#include "tests/tools/subprocess.h"

namespace jankbox::tools {
namespace {

using testing::HasSubstr;

size_t Occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class RunSignalsTest : public testing::Test {
 protected:
  std::vector<std::string> Command(const std::string& script) const {
    return {JANKBOX_BINARY, "run", "--dir", folder_ / "reports", "--", "sh", "-c", script};
  }
  const Environment environment_ = {{"JANKBOX_AGENT", JANKBOX_WITNESS_AGENT}};

  TemporaryFolder folder_;
};

struct Forwarded {
  const char* name;
  int number;
};

class RunForwardsTest : public RunSignalsTest, public testing::WithParamInterface<Forwarded> {};

TEST_P(RunForwardsTest, ToTheProgramAndOnlyOnce) {
  const std::string name = GetParam().name;
  Subprocess process(Command("trap 'echo got-" + name + "; n=1' " + name +
                             "; n=0; echo ready; while [ $n = 0 ]; do sleep 0.02; done; exit 3"),
                     environment_);
  ASSERT_TRUE(process.WaitForOutput("ready"));
  ASSERT_EQ(kill(process.pid(), GetParam().number), 0);
  const Finished finished = process.Finish();
  EXPECT_EQ(finished.exit_status(), 3);
  EXPECT_EQ(Occurrences(finished.out, "got-" + name), 1u);
}

INSTANTIATE_TEST_SUITE_P(Signals, RunForwardsTest,
                         testing::Values(Forwarded{"TERM", SIGTERM}, Forwarded{"HUP", SIGHUP},
                                         Forwarded{"INT", SIGINT}, Forwarded{"QUIT", SIGQUIT},
                                         Forwarded{"USR1", SIGUSR1}, Forwarded{"USR2", SIGUSR2},
                                         Forwarded{"CONT", SIGCONT}),
                         [](const auto& tested) { return tested.param.name; });

TEST_F(RunSignalsTest, ProgramThatDiesOfAForwardedSignalTakesUsWithIt) {
  Subprocess process(Command("echo ready; exec sleep 60"), environment_);
  ASSERT_TRUE(process.WaitForOutput("ready"));
  ASSERT_EQ(kill(process.pid(), SIGTERM), 0);
  const Finished finished = process.Finish();
  EXPECT_EQ(finished.signal(), SIGTERM);
  EXPECT_THAT(finished.err, HasSubstr("jankbox: nothing was watched"));
  EXPECT_THAT(finished.err, HasSubstr("; the program was ended by SIGTERM\n"));
}

TEST_F(RunSignalsTest, SignalWithoutANameIsToldByItsNumber) {
  Subprocess process(Command("kill -40 $$"), environment_);
  const Finished finished = process.Finish();
  EXPECT_EQ(finished.signal(), 40);
  EXPECT_THAT(finished.err, HasSubstr("; the program was ended by signal 40\n"));
}

TEST_F(RunSignalsTest, InterruptKeyReachesTheProgramOnceAndNotUs) {
  Subprocess process(Command("trap 'echo int' INT; echo ready; n=0; "
                             "while [ $n -lt 25 ]; do sleep 0.02; n=$((n+1)); done; exit 9"),
                     environment_, /*terminal=*/true);
  ASSERT_TRUE(process.WaitForOutput("ready"));
  process.Write("\x03");
  const Finished finished = process.Finish();
  EXPECT_EQ(finished.exit_status(), 9);
  EXPECT_EQ(Occurrences(finished.out, "int\r\n"), 1u) << finished.out;
}

TEST_F(RunSignalsTest, ProgramStartsWithTheMaskAndDispositionsThatWeHad) {
  const std::string script = "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status";
  const Finished bare = RunToEnd({"sh", "-c", script}, environment_);
  EXPECT_EQ(RunToEnd(Command(script), environment_).out, bare.out);
  // nohup-like parents: what is ignored stays ignored, SIGCHLD among it.
  const auto ignoring = [&](const std::vector<std::string>& argv) {
    std::vector<std::string> shell = {"sh", "-c", "trap '' HUP CHLD USR1; exec \"$@\"", "sh"};
    shell.insert(shell.end(), argv.begin(), argv.end());
    return RunToEnd(shell, environment_);
  };
  const Finished bare_ignoring = ignoring({"sh", "-c", script});
  const Finished run_ignoring = ignoring(Command(script));
  EXPECT_EQ(run_ignoring.out, bare_ignoring.out);
  EXPECT_EQ(run_ignoring.exit_status(), 0);
}

}  // namespace
}  // namespace jankbox::tools
