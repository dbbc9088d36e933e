#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

#include "tests/tools/sealed_report.h"
#include "tests/tools/subprocess.h"

namespace jankbox::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kNothingWatched[] =
    "jankbox: nothing was watched: no thread waited in a loop that Jankbox knows (--children "
    "watches what the program starts, too)";

class RunTest : public testing::Test {
 protected:
  std::vector<std::string> Command(const std::vector<std::string>& program,
                                   const std::vector<std::string>& options = {}) const {
    std::vector<std::string> command = {JANKBOX_BINARY, "run", "--dir", folder_ / "reports"};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back("--");
    command.insert(command.end(), program.begin(), program.end());
    return command;
  }
  Finished Run(const std::vector<std::string>& program,
               const std::vector<std::string>& options = {}, Environment added = {}) const {
    added.emplace("JANKBOX_AGENT", JANKBOX_WITNESS_AGENT);
    return RunToEnd(Command(program, options), added);
  }
  // A shell command that seals `report` while the program runs.
  std::string SealLater(const proto::Report& report) const {
    const std::string name = report.id() + "." + std::to_string(report.revision());
    WriteFile(folder_ / name, SealReport(report, "trace"));
    return "mv " + (folder_ / name) + " " + (folder_ / "reports/") + report.id() + ".pftrace.zst\n";
  }

  TemporaryFolder folder_;
};

TEST_F(RunTest, ExitStatusIsThePrograms) {
  for (int status : {0, 1, 2, 7, 126, 127, 255}) {
    EXPECT_EQ(Run({"sh", "-c", "exit " + std::to_string(status)}).exit_status(), status);
  }
}

TEST_F(RunTest, DeathBySignalIsThePrograms) {
  EXPECT_EQ(Run({"sh", "-c", "kill -KILL $$"}).signal(), SIGKILL);
  EXPECT_EQ(Run({"sh", "-c", "kill -SEGV $$"}).signal(), SIGSEGV);
  const Finished finished = Run({"sh", "-c", "kill -ABRT $$"});
  EXPECT_EQ(finished.signal(), SIGABRT);
  EXPECT_FALSE(WCOREDUMP(finished.wait_status));
}

TEST_F(RunTest, ProgramThatCannotStartIsOneErrorAndAShellsStatus) {
  const Finished missing = Run({"no-such-program-anywhere"});
  EXPECT_EQ(missing.exit_status(), 127);
  EXPECT_EQ(missing.err, "jankbox: no-such-program-anywhere: No such file or directory\n");
  // A folder of PATH that this user may not enter is no answer.
  const Finished unsearchable =
      Run({"no-such-program-anywhere"}, {}, {{"PATH", "/proc/1/cwd:/usr/bin:/bin"}});
  EXPECT_EQ(unsearchable.exit_status(), 127);
  WriteFile(folder_ / "plain", "not a program");
  const Finished denied = Run({folder_ / "plain"});
  EXPECT_EQ(denied.exit_status(), 126);
  EXPECT_EQ(denied.err, "jankbox: " + (folder_ / "plain") + ": Permission denied\n");
}

TEST_F(RunTest, StreamsAreByteIdentical) {
  const std::vector<std::string> program = {
      "sh", "-c", "cat; printf 'out\\000\\377\\n'; printf 'err\\001\\n' >&2; exit 3"};
  std::string input(300'000, '\0');
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<char>(i * 7);
  WriteFile(folder_ / "in", input);
  const auto piped = [&](std::vector<std::string> argv) {
    std::vector<std::string> shell = {"sh", "-c", "\"$@\" < " + (folder_ / "in"), "sh"};
    shell.insert(shell.end(), argv.begin(), argv.end());
    return RunToEnd(shell, {{"JANKBOX_AGENT", JANKBOX_WITNESS_AGENT}});
  };
  const Finished bare = piped(program);
  const Finished quiet = piped(Command(program, {"--quiet"}));
  EXPECT_EQ(quiet.out, bare.out);
  EXPECT_EQ(quiet.err, bare.err);
  EXPECT_EQ(quiet.exit_status(), 3);
  const Finished spoken = piped(Command(program));
  EXPECT_EQ(spoken.out, bare.out);
  EXPECT_EQ(spoken.err, bare.err + kNothingWatched + "; the program exited with status 3\n");
}

TEST_F(RunTest, ArgumentsReachTheProgramUntouched) {
  const Finished finished = Run({"printf", "%s|", "--", "-x", "--dir", "", "a b", "list"});
  EXPECT_EQ(finished.out, "--|-x|--dir||a b|list|");
  EXPECT_EQ(RunToEnd({JANKBOX_BINARY, "run", "--quiet", "--dir", folder_ / "reports", "printf",
                      "%s|", "--", "a"},
                     {{"JANKBOX_AGENT", JANKBOX_WITNESS_AGENT}})
                .out,
            "--|a|");
}

TEST_F(RunTest, AgentFollowsWhatTheUserPreloads) {
  const std::string program =
      "printf '%s\\n' \"$LD_PRELOAD\" \"$JANKBOX_RUN_OPTIONS\" \"$JANKBOX_OPTIONS\"";
  const std::string always =
      "dir='" + (folder_ / "reports") + "',repeats=every,reports_a_day=none,";
  EXPECT_EQ(Run({"sh", "-c", program}, {"--slow-ms", "200", "--window-s", "5"}).out,
            JANKBOX_WITNESS_AGENT "\n" + always + "slow_message_ms=200,window_ms=5000\n\n");
  EXPECT_EQ(
      Run({"sh", "-c", program}, {"--anr-ms", "60", "--min-free-mib", "0"}).out,
      JANKBOX_WITNESS_AGENT "\n" + always + "slow_message_ms?=60,anr_ms=60,min_free_mib=none\n\n");
  // The user's own options are left as they are.
  EXPECT_EQ(Run({"sh", "-c", program}, {}, {{"JANKBOX_OPTIONS", "record=off"}}).out,
            JANKBOX_WITNESS_AGENT "\n" + always + "slow_message_ms?=100\nrecord=off\n");
  const Finished chained =
      Run({"sh", "-c", "printf %s \"$LD_PRELOAD\""}, {},
          {{"LD_PRELOAD", "libdl.so.2"}, {"ASAN_OPTIONS", "verify_asan_link_order=0"}});
  EXPECT_EQ(chained.out, "libdl.so.2:" JANKBOX_WITNESS_AGENT);
}

TEST_F(RunTest, RelativeFolderIsMadeAbsoluteForTheProgram) {
  const Finished finished =
      RunToEnd({"sh", "-c",
                "cd " + folder_.path() +
                    " && \"$0\" run -q --dir here -- sh -c 'cd / && echo $JANKBOX_RUN_OPTIONS'",
                JANKBOX_BINARY},
               {{"JANKBOX_AGENT", JANKBOX_WITNESS_AGENT}});
  EXPECT_THAT(finished.out, HasSubstr("dir='" + (folder_ / "here") + "',"));
}

TEST_F(RunTest, MissingAgentIsOneErrorAndTheProgramRuns) {
  const Finished finished =
      Run({"sh", "-c", "echo \"[$LD_PRELOAD]\"; exit 5"}, {}, {{"JANKBOX_AGENT", "/no/such.so"}});
  EXPECT_EQ(finished.exit_status(), 5);
  EXPECT_EQ(finished.out, "[]\n");
  EXPECT_THAT(finished.err, testing::MatchesRegex("jankbox: [^\n]*agent[^\n]*\n"));
}

TEST_F(RunTest, AgentWithoutItsRecorderIsOneErrorAndTheProgramRuns) {
  WriteFile(folder_ / "agent.so", FileBytes(JANKBOX_WITNESS_AGENT));
  const Finished finished = Run({"sh", "-c", "echo \"[$LD_PRELOAD]\"; exit 5"}, {},
                                {{"JANKBOX_AGENT", folder_ / "agent.so"}});
  EXPECT_EQ(finished.exit_status(), 5);
  EXPECT_EQ(finished.out, "[]\n");
  EXPECT_THAT(finished.err, testing::MatchesRegex("jankbox: [^\n]*libjankbox.so.0[^\n]*\n"));
}

TEST_F(RunTest, FirstErrorOfTheWholeTreeIsPrintedOthersAreCounted) {
  const Finished finished =
      Run({"sh", "-c", "true; /bin/true; /bin/true; exit 4"}, {},
          {{"WITNESS_ERRORS", "error: no room for a ring \x1b[31m\nnoise\nerror: second"}});
  EXPECT_EQ(finished.exit_status(), 4);
  EXPECT_EQ(finished.err,
            "jankbox: no room for a ring ?[31m\n"
            "jankbox: nothing was watched: recording was not possible (see above); "
            "5 more errors; the program exited with status 4\n");
}

TEST_F(RunTest, IncidentsArePrintedAsTheyHappenAndSummedUp) {
  proto::Report grown = SampleReport(2);
  grown.set_fingerprint("of another cause");
  proto::Report first = grown;
  grown.set_revision(2);
  grown.set_kind(proto::ANR);
  grown.set_duration_ns(5'200'000'000);
  Subprocess process(
      Command({"sh", "-c",
               SealLater(SampleReport(1)) + SealLater(first) + "read line\n" + SealLater(grown)}),
      {{"JANKBOX_AGENT", JANKBOX_WITNESS_AGENT}});
  ASSERT_TRUE(process.WaitForErrorOutput("[01960000-0002]"));  // reported while the program runs
  process.Write("\n");
  const Finished finished = process.Finish();
  EXPECT_EQ(finished.exit_status(), 0);
  std::istringstream text(finished.err);
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 4u) << finished.err;
  EXPECT_EQ(lines[0],
            "jankbox: slow message 912 ms in gtk3-widget-fac (main): running 98 % — "
            "gtk_builder_add_from_resource  [01960000-0001]");
  EXPECT_THAT(lines[2], HasSubstr("slow message in gtk3-widget-fac (main) grew to anr 5.2 s"));
  EXPECT_EQ(lines[3], "jankbox: 2 incidents (1 anr, 1 slow message), worst 5.2 s, reports in " +
                          (folder_ / "reports") + "; jankbox list " + (folder_ / "reports"));
}

TEST_F(RunTest, ForeignFilesInTheFolderAreNoIncidents) {
  WriteFile(folder_ / "garbage", "x");
  const std::string reports = folder_ / "reports/";
  const Finished finished =
      Run({"sh", "-c",
           "mv " + (folder_ / "garbage") + " " + reports + "g.pftrace.zst; mkfifo " + reports +
               "f; mv " + reports + "f " + reports + "f.pftrace.zst"});
  EXPECT_EQ(finished.err, kNothingWatched + std::string("\n"));
}

TEST_F(RunTest, FolderThatCannotBeWrittenIsOneErrorAndTheProgramRuns) {
  WriteFile(folder_ / "file", "");
  for (const std::string& place :
       {folder_ / "file", folder_ / "file/below", std::string("/proc/no")}) {
    const Finished finished = RunToEnd(
        {JANKBOX_BINARY, "run", "--dir", place, "--", "sh", "-c", "echo \"[$LD_PRELOAD]\"; exit 5"},
        {{"JANKBOX_AGENT", JANKBOX_WITNESS_AGENT}});
    EXPECT_EQ(finished.exit_status(), 5) << place;
    EXPECT_EQ(finished.out, "[]\n") << place;
    EXPECT_THAT(finished.err,
                testing::MatchesRegex("jankbox: no reports will be written: [^\n]*\n"));
    EXPECT_THAT(finished.err, HasSubstr(place));
  }
}

TEST_F(RunTest, FullDiskIsOneErrorAndTheProgramRuns) {
  // A file system of 1 MiB, in a mount namespace of our own.
  const std::string mount = "mount -t tmpfs -o size=1m tmpfs \"$1\" || exit 77; ";
  const std::string run = "\"$0\" run --dir \"$1\" -- sh -c 'echo \"[$LD_PRELOAD]\"; exit 5'";
  const Finished finished = RunToEnd({"unshare", geteuid() == 0 ? "-m" : "-rm", "sh", "-c",
                                      mount + run, JANKBOX_BINARY, folder_.path()},
                                     {{"JANKBOX_AGENT", JANKBOX_WITNESS_AGENT}});
  if (finished.exit_status() == 77 || finished.err.find("unshare") == 0) {
    GTEST_SKIP() << "no mount namespace here: " << finished.err;
  }
  EXPECT_EQ(finished.exit_status(), 5);
  EXPECT_EQ(finished.out, "[]\n");
  EXPECT_THAT(
      finished.err,
      testing::MatchesRegex("jankbox: no reports will be written: [^\n]*No space left[^\n]*\n"));
}

TEST_F(RunTest, FreeSpaceFloorIsSettable) {
  EXPECT_THAT(
      Run({"true"}, {"--min-free-mib", "1000000000"}).err,
      testing::MatchesRegex("jankbox: no reports will be written: [^\n]*No space left[^\n]*\n"));
  EXPECT_EQ(Run({"true"}, {"--min-free-mib", "0"}).err, kNothingWatched + std::string("\n"));
}

TEST_F(RunTest, LastLineSaysWhatWasWatched) {
  const Finished finished =
      Run({"true"}, {}, {{"WITNESS_ERRORS", "watched: 7\t0\t0\t0\tglib\tmain\ttrue\nwatched: x"}});
  EXPECT_THAT(finished.err, testing::MatchesRegex(
                                "jankbox: no incidents; watched: main \\(glib\\) for [0-9.]+ ms, "
                                "until its process ended without a stop\n"));
}

TEST_F(RunTest, ProgramThatTheAgentCannotBeLoadedIntoRunsWithoutIt) {
  WriteFile(folder_ / "main.c",
            "#include <stdlib.h>\nint main(void) { return getenv(\"LD_PRELOAD\") ? 1 : 9; }\n");
  const std::string program = folder_ / "program";
  ASSERT_TRUE(RunToEnd({"cc", "-static", "-o", program, folder_ / "main.c"}).exit_status() == 0);
  const Finished finished = Run({program});
  EXPECT_EQ(finished.exit_status(), 9);
  const std::string why =
      program + " is a program that is linked statically: the agent cannot be loaded into it";
  EXPECT_EQ(finished.err, "jankbox: nothing can be watched: " + why +
                              "\njankbox: nothing was watched: " + why +
                              "; the program exited with status 9\n");
}

TEST_F(RunTest, GrandchildrenMayLiveOn) {
  const Finished finished =
      Run({"sh", "-c", "sleep 30 >/dev/null 2>&1 </dev/null & echo $!; exit 4"});
  EXPECT_EQ(finished.exit_status(), 4);
  const pid_t grandchild = static_cast<pid_t>(std::stol(finished.out));
  EXPECT_EQ(kill(grandchild, 0), 0);
  kill(grandchild, SIGKILL);
}

TEST_F(RunTest, ClosedStandardStreamsStayClosed) {
  const Finished finished =
      RunToEnd({"sh", "-c", "\"$0\" run --dir \"$1\" -- sh -c 'ls /proc/$$/fd' <&- 2>&-",
                JANKBOX_BINARY, folder_ / "reports"},
               {{"JANKBOX_AGENT", JANKBOX_WITNESS_AGENT}});
  EXPECT_EQ(finished.exit_status(), 0);
  EXPECT_THAT(finished.out, testing::StartsWith("1\n"));
  EXPECT_THAT(finished.out, Not(HasSubstr("2\n")));
}

TEST_F(RunTest, ReaderThatLeftDoesNotChangeTheStatus) {
  // stderr is a pipe whose reader has gone before anything is written.
  const std::string script =
      "{ \"$0\" run --dir \"$1\" -- sh -c 'sleep 0.3; exit 6' 2>&4; echo $? >&3; } 4>&1 3>&5 | "
      "true";
  const Finished finished =
      RunToEnd({"sh", "-c", "exec 5>&1; " + script, JANKBOX_BINARY, folder_ / "reports"},
               {{"JANKBOX_AGENT", JANKBOX_WITNESS_AGENT}});
  EXPECT_EQ(finished.out, "6\n");
}

}  // namespace
}  // namespace jankbox::tools
