// A Swing program under `jankbox run --java`, on a real VM and X server: what is planted on the
// event thread is reported with the Java calls that did it, and an event thread that waits is not.
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/file.h"
#include "tests/e2e/run_program.h"

namespace jankbox {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr char kEvent[] = "java.awt.event.InvocationEvent";

std::string Attribute(const proto::Report& report, const std::string& key) {
  for (const proto::Attribute& attribute : report.attributes()) {
    if (attribute.key() == key) return attribute.value();
  }
  return "";
}

std::vector<std::string> JavaCalls(const proto::Report& report) {
  std::vector<std::string> calls;
  for (const proto::Attribute& attribute : report.attributes()) {
    if (attribute.key().starts_with("java_stack_")) calls.push_back(attribute.value());
  }
  return calls;
}

class JavaTest : public EndToEndTest {
 protected:
  static bool VmShowsWindows() {
    char java[PATH_MAX];
    if (realpath(JANKBOX_TEST_JAVA, java) == nullptr) return false;
    const std::string bin(DirName(java));
    return access((bin + "/../lib/libawt_xawt.so").c_str(), R_OK) == 0;
  }
  void SetUp() override {
    EndToEndTest::SetUp();
    if (!StartDisplay(&environment_)) GTEST_SKIP() << "there is no Xvfb";
    if (!VmShowsWindows()) GTEST_SKIP() << "this Java VM is headless";
    environment_["JANKBOX_TEST_SPOOL"] = Folder("spool");
  }

  // A slow message takes longer than what the VM does to compile and to paint on a busy machine.
  std::vector<std::string> Run(const std::vector<std::string>& options = {"--java"}) const {
    std::vector<std::string> command = {Binary("jankbox"), "run",          "--slow-ms", "500",
                                        "--dir",           Folder("spool")};
    command.insert(command.end(), options.begin(), options.end());
    command.emplace_back("--");
    return command;
  }
  static std::vector<std::string> SwingStalls(const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {JANKBOX_TEST_JAVA, "-cp", JANKBOX_TEST_CLASSES,
                                        "SwingStalls"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
  }
  Outcome Execute(std::vector<std::string> command, const std::vector<std::string>& program) const {
    command.insert(command.end(), program.begin(), program.end());
    return RunProgram(command, environment_, 60000);
  }
  Outcome Java(const std::vector<std::string>& arguments) const {
    return Execute({}, SwingStalls(arguments));
  }
  // Under `jankbox run --java`; the program's own output and status are as without it.
  Outcome Watched(const std::vector<std::string>& arguments) const {
    Outcome outcome = Execute(Run(), SwingStalls(arguments));
    EXPECT_EQ(outcome.exit_status, 7) << outcome.err;
    EXPECT_EQ(outcome.out, "done\n");
    EXPECT_THAT(outcome.err, HasSubstr("watched: AWT-EventQueue- (awt), "));
    EXPECT_THAT(outcome.err, Not(HasSubstr("Picked up")));
    return outcome;
  }
  // The reports that have a Java call which starts with `name`.
  std::vector<proto::Report> ReportsOf(const std::string& name) const {
    std::vector<proto::Report> found;
    for (const proto::Report& report : Reports(Folder("spool"))) {
      const std::vector<std::string> calls = JavaCalls(report);
      const auto same = [&](const std::string& call) { return call.starts_with(name + "("); };
      if (std::any_of(calls.begin(), calls.end(), same)) found.push_back(report);
    }
    return found;
  }
  // A message that waited, off the CPU, for most of the time in which the event thread was idle:
  // it was none.
  size_t IdleTimesReported() const {
    constexpr uint64_t kMostOfIdleNs = 2'000'000'000;
    size_t count = 0;
    for (const proto::Report& report : Reports(Folder("spool"))) {
      const proto::Verdict& verdict = report.verdict();
      const uint64_t waited_ns = verdict.blocked_ns() + verdict.sleeping_ns() + verdict.lock_ns();
      count += waited_ns >= kMostOfIdleNs ? 1 : 0;
    }
    return count;
  }

  Environment environment_;
};

TEST_F(JavaTest, BusyListenerIsOneSlowMessageWithItsJavaCalls) {
  const Outcome outcome = Watched({"busy"});
  EXPECT_THAT(outcome.err, HasSubstr("SwingStalls.sortForever"));
  const std::vector<proto::Report> reports = ReportsOf("SwingStalls.sortForever");
  ASSERT_THAT(reports, SizeIs(1)) << outcome.err;
  const proto::Report& report = reports[0];
  EXPECT_EQ(report.what(), kEvent);
  EXPECT_EQ(report.loop(), "awt");
  EXPECT_EQ(report.thread(), "AWT-EventQueue-");
  EXPECT_THAT(static_cast<double>(report.duration_ns()) / 1e6, LastsAbout(700));
  const proto::Verdict& verdict = report.verdict();
  EXPECT_GT(verdict.running_ns(), verdict.blocked_ns() + verdict.sleeping_ns());
  EXPECT_THAT(JavaCalls(report), Contains(StartsWith("java.awt.EventQueue.dispatchEvent(")));
  EXPECT_THAT(JavaCalls(report), Not(Contains(HasSubstr("0x")))) << "of a lambda's class";
  EXPECT_EQ(Attribute(report, "java_wait"), "");
  EXPECT_GT(report.history().count(), 0u);
  const Outcome shown =
      RunProgram({Binary("jankbox"), "show", "--dir", Folder("spool"), report.id()});
  EXPECT_THAT(shown.out, HasSubstr("Java stack, innermost first, in "));
  EXPECT_THAT(shown.out, HasSubstr("  SwingStalls.sortForever(SwingStalls.java:"));
  // Slices of the thread that took the stacks.
  const Outcome trace = RunProgram({Binary("jankbox"), "export", "--systrace", "--dir",
                                    Folder("spool"), report.id(), "-o", "-"});
  EXPECT_THAT(trace.out, HasSubstr("|SwingStalls.sortForever\n"));
}

TEST_F(JavaTest, SleepInAListenerIsBlocked) {
  Watched({"sleep"});
  const std::vector<proto::Report> reports = ReportsOf("SwingStalls.pause");
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].what(), kEvent);
  EXPECT_THAT(static_cast<double>(reports[0].duration_ns()) / 1e6, LastsAbout(700));
  const proto::Verdict& verdict = reports[0].verdict();
  EXPECT_GT(verdict.blocked_ns() + verdict.sleeping_ns(), verdict.running_ns());
  EXPECT_THAT(Attribute(reports[0], "java_wait"),
              StartsWith("TIMED_WAITING in java.lang.Thread.sleep, in "));
}

TEST_F(JavaTest, CollectionsAreWhatTheEventThreadWaitedFor) {
  const Outcome outcome = Watched({"gc"});
  const std::vector<proto::Report> reports = ReportsOf("SwingStalls.collectGarbage");
  ASSERT_THAT(reports, SizeIs(1)) << outcome.err;
  const proto::Verdict& verdict = reports[0].verdict();
  EXPECT_GT(verdict.gc_ns(), reports[0].duration_ns() / 4) << verdict.ShortDebugString();
  EXPECT_GT(verdict.gc_ns(), verdict.blocked_ns() + verdict.lock_ns());
  EXPECT_THAT(verdict.sources(), Contains("collector"));
  const Outcome trace = RunProgram({Binary("jankbox"), "export", "--systrace", "--dir",
                                    Folder("spool"), reports[0].id(), "-o", "-"});
  EXPECT_THAT(trace.out, HasSubstr("|GC pause\n"));
}

TEST_F(JavaTest, IdleEventThreadIsNoIncident) {
  Watched({"idle"});
  EXPECT_EQ(IdleTimesReported(), 0u);
}

// Its nested loop waits for events while the message that opened it has not returned.
TEST_F(JavaTest, ModalDialogIsNoIncident) {
  Watched({"dialog"});
  EXPECT_EQ(IdleTimesReported(), 0u);
}

TEST_F(JavaTest, QueueOfTheProgramsOwnIsWatched) {
  Watched({"queue"});
  EXPECT_THAT(ReportsOf("SwingStalls.sortForever"), SizeIs(1));
}

TEST_F(JavaTest, HangIsAnAnrThatNamesItsCallWhileItLasts) {
  const Outcome outcome = Execute(Run({"--java", "--anr-ms", "1500"}), SwingStalls({"hang"}));
  EXPECT_THAT(outcome.err, HasSubstr("so far in java (AWT-EventQueue-)"));
  const std::vector<proto::Report> reports = ReportsOf("SwingStalls.pause");
  ASSERT_THAT(reports, SizeIs(1)) << outcome.err;
  EXPECT_EQ(reports[0].kind(), proto::ANR);
  EXPECT_EQ(reports[0].what(), kEvent);
}

TEST_F(JavaTest, ProgramThatEndsInAListenerEndsAsWithoutIt) {
  Watched({"exit"});
  EXPECT_THAT(ReportsOf("SwingStalls.end"), SizeIs(0));
}

// The option --thread alone would take the waits inside of messages for the loop's.
TEST_F(JavaTest, OptionThreadChangesNothing) {
  const Outcome outcome = Execute(Run({"--java", "--thread", "AWT*"}), SwingStalls({"busy"}));
  EXPECT_THAT(outcome.err, HasSubstr("watched: AWT-EventQueue- (awt), "));
  EXPECT_THAT(ReportsOf("SwingStalls.sortForever"), SizeIs(1)) << outcome.err;
}

TEST_F(JavaTest, WithoutTheOptionTheLastLineNamesIt) {
  const Outcome plain = Java({"idle"});
  const Outcome outcome = Execute(Run({}), SwingStalls({"idle"}));
  EXPECT_EQ(outcome.exit_status, plain.exit_status);
  EXPECT_EQ(outcome.out, plain.out);
  EXPECT_THAT(outcome.err, EndsWith("; the event thread of a Java program was not watched (--java "
                                    "watches it); the program exited with status 7\n"));
}

TEST_F(JavaTest, ProgramWithoutWindowsIsSaidToHaveNone) {
  const Outcome outcome = Execute(Run(), SwingStalls({"none"}));
  EXPECT_EQ(outcome.exit_status, 7);
  EXPECT_EQ(outcome.err,
            "jankbox: nothing was watched: the Java VM had no event thread of AWT; the program "
            "exited with status 7\n");
}

TEST_F(JavaTest, ScriptPassesTheOptionOnWithTheUsersOwn) {
  const std::string script = Folder("script");
  std::ofstream(script) << "#!/bin/sh\n" JANKBOX_TEST_JAVA " -cp " JANKBOX_TEST_CLASSES
                           " SwingStalls busy\necho status $?\n";
  chmod(script.c_str(), 0755);
  environment_["JAVA_TOOL_OPTIONS"] = "-Dtest.mine=1";
  const Outcome outcome = Execute(Run(), {script});
  EXPECT_EQ(outcome.out, "done\nstatus 7\n");
  EXPECT_THAT(outcome.err, StartsWith("Picked up JAVA_TOOL_OPTIONS: -Dtest.mine=1 \"-agentpath:"));
  EXPECT_THAT(ReportsOf("SwingStalls.sortForever"), SizeIs(1)) << outcome.err;
}

// As in a build without a JDK.
TEST_F(JavaTest, MissingLibraryIsNamedAndTheProgramRuns) {
  const std::string folder = Folder("lib");
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  for (const char* library : {"libjankbox_agent.so", JANKBOX_TEST_RECORDER}) {
    const std::string path = std::string(JANKBOX_TEST_LIBRARIES "/") + library;
    ASSERT_EQ(symlink(path.c_str(), (folder + "/" + library).c_str()), 0);
  }
  environment_["JANKBOX_AGENT"] = folder + "/libjankbox_agent.so";
  const Outcome outcome = Execute(Run(), SwingStalls({"none"}));
  EXPECT_EQ(outcome.exit_status, 7);
  EXPECT_THAT(outcome.err, StartsWith("jankbox: no Java program will be watched: " + folder +
                                      "/libjankbox_jvmti.so does not exist"));
}

TEST_F(JavaTest, DebuggerKeepsTheBreakpoints) {
  const Outcome outcome = Execute(
      Run(), {JANKBOX_TEST_JAVA, "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y",
              "-cp", JANKBOX_TEST_CLASSES, "SwingStalls", "idle"});
  EXPECT_EQ(outcome.exit_status, 7);
  EXPECT_EQ(outcome.out, "done\n");
  EXPECT_THAT(outcome.err, HasSubstr("a debugger (jdwp) needs the VM's breakpoints"));
}

TEST_F(JavaTest, OptionsInAFileMayAskForADebugger) {
  const std::string file = Folder("options");
  std::ofstream(file) << "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y\n";
  const Outcome outcome = Execute(Run(), {JANKBOX_TEST_JAVA, "@" + file, "-version"});
  EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("needs the VM's breakpoints, or may"));
}

// -Xcheck:jni ends the VM if a call breaks a rule, and warns of questionable ones.
TEST_F(JavaTest, CallsOfTheVmKeepItsRules) {
  const Outcome outcome = Execute(Run(), {JANKBOX_TEST_JAVA, "-Xcheck:jni", "-cp",
                                          JANKBOX_TEST_CLASSES, "SwingStalls", "busy"});
  EXPECT_EQ(outcome.exit_status, 7) << outcome.err;
  EXPECT_THAT(outcome.out, Not(HasSubstr("FATAL ERROR")));
  EXPECT_THAT(ReportsOf("SwingStalls.sortForever"), SizeIs(1)) << outcome.err;
}

}  // namespace
}  // namespace jankbox
