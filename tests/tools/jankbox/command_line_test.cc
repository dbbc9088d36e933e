#include <gmock/gmock.h>

#include "tests/tools/subprocess.h"

namespace jankbox::tools {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(CommandLine, HelpOfEveryCommandHasExamplesAndExitStatuses) {
  EXPECT_THAT(RunToEnd({JANKBOX_BINARY, "--help"}).out, HasSubstr("doctor"));
  for (const char* command : {"run", "list", "show", "export", "merge", "record", "pull", "doctor",
                              "ring", "clean", "completion", "attach", "session"}) {
    const Finished help = RunToEnd({JANKBOX_BINARY, command, "--help"});
    EXPECT_EQ(help.exit_status(), 0) << command;
    EXPECT_THAT(help.out, HasSubstr(std::string("Usage: jankbox ") + command));
    EXPECT_THAT(help.out,
                testing::ContainsRegex("Examples:(\n.*)*\n  jankbox " + std::string(command)));
    EXPECT_THAT(help.out, HasSubstr("Exit status: "));
    EXPECT_EQ(help.err, "");
  }
}

TEST(CommandLine, VersionIsOneLine) {
  const Finished version = RunToEnd({JANKBOX_BINARY, "--version"});
  EXPECT_EQ(version.exit_status(), 0);
  EXPECT_THAT(version.out, testing::MatchesRegex("jankbox [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

// What bash offers after `line`, whose last word is being typed.
std::string Completed(const std::string& line) {
  const std::string script = "eval \"$(" JANKBOX_BINARY " completion)\"; COMP_WORDS=(" + line +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _jankbox; "
                             "printf '%s ' \"${COMPREPLY[@]}\"";
  return RunToEnd({"bash", "--norc", "-c", script}).out;
}

TEST(CommandLine, BashCompletesCommandsOptionsAndFiles) {
  EXPECT_EQ(Completed("jankbox r"), "run record ring ");
  EXPECT_EQ(Completed("jankbox run --sl"), "--slow-ms ");
  EXPECT_EQ(Completed("jankbox ring d"), "dump ");
  EXPECT_EQ(Completed("jankbox show /proc/self/cmdl"), "/proc/self/cmdline ");
}

TEST(CommandLine, WrongUsageIsStatusTwoOnStderr) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"frobnicate"},
      {"list", "--jsno"},
      {"show"},
      {"run"},
      {"export", "x"},
      {"run", "--slow-ms", "x"},
      {"run", "--foo", "--", "true"},
      {"run", "--"},
      {"list", "a", "b"},
      {"run", "--window-s", "0", "--", "true"},
      {"run", "--slow-ms", "900", "--anr-ms", "800", "--", "true"},
      {"attach"},
      {"attach", "0"},
      {"attach", "self"},
      {"attach", "1", "--for", "0"},
      {"attach", "1", "--for", "nan"},
      {"attach", "1", "--slow-ms", "900", "--anr-ms", "800"}};
  for (std::vector<std::string> arguments : wrong) {
    arguments.insert(arguments.begin(), JANKBOX_BINARY);
    const Finished finished = RunToEnd(arguments);
    EXPECT_EQ(finished.exit_status(), 2) << testing::PrintToString(arguments);
    EXPECT_EQ(finished.out, "");
    EXPECT_NE(finished.err, "");
  }
}

TEST(CommandLine, AttachTakesSeveralThreads) {
  const Finished finished = RunToEnd(
      {JANKBOX_BINARY, "attach", "1073741823", "--thread", "render", "--thread", "audio*"});
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_THAT(finished.err, HasSubstr("there is no process 1073741823"));
}

TEST(CommandLine, MistypedCommandIsGuessed) {
  const Finished finished = RunToEnd({JANKBOX_BINARY, "shwo", "x"});
  EXPECT_EQ(finished.exit_status(), 2);
  EXPECT_THAT(finished.err, StartsWith("jankbox: unknown command 'shwo'. Did you mean 'show'?\n"));
}

TEST(CommandLine, OutputThatCannotBeWrittenIsAFailure) {
  const Finished finished =
      RunToEnd({"sh", "-c", std::string(JANKBOX_BINARY) + " --help > /dev/full"});
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_THAT(finished.err, HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace jankbox::tools
