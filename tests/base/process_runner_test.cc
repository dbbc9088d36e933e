#include "base/process_runner.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/clock.h"

namespace jankbox {
namespace {

constexpr uint64_t kPatienceNs = 20 * kNsPerSecond;

struct Captured {
  CapturedEnd end;
  std::string out;
};

Captured RunScript(const std::string& script, uint64_t patience_ns = kPatienceNs,
                   const Interrupt& interrupt = {}, size_t max_bytes = SIZE_MAX) {
  Captured captured;
  captured.end =
      RunCaptured({"sh", "-c", script}, patience_ns, interrupt, [&](std::string_view piece) {
        captured.out += piece;
        return captured.out.size() <= max_bytes;
      });
  return captured;
}

TEST(RunCaptured, OutputErrorsAndStatusComeBack) {
  const Captured captured = RunScript("echo out; echo err >&2; exit 3");
  EXPECT_EQ(captured.end.how, CapturedEnd::How::kExited);
  EXPECT_EQ(captured.end.status, 3);
  EXPECT_EQ(captured.out, "out\n");
  EXPECT_EQ(captured.end.err, "err\n");
}

TEST(RunCaptured, HasNoInputAndDefaultSignals) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  signal(SIGTERM, SIG_IGN);
  const Captured captured = RunScript("cat; kill -TERM $$; echo alive");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  signal(SIGTERM, SIG_DFL);
  EXPECT_EQ(captured.end.how, CapturedEnd::How::kKilled);
  EXPECT_EQ(captured.end.status, SIGTERM);
  EXPECT_EQ(captured.out, "");
}

TEST(RunCaptured, ErrorsAreKeptUpTo64KiB) {
  const Captured captured = RunScript("head -c 100000 /dev/zero >&2");
  EXPECT_EQ(captured.end.err.size(), size_t{64} << 10);
}

TEST(RunCaptured, SilentProgramIsKilledWithItsGroup) {
  const Captured captured = RunScript("sleep 1000 & echo $!; sleep 1000", 300 * kNsPerMs);
  EXPECT_EQ(captured.end.how, CapturedEnd::How::kSilent);
  const pid_t sleeper = atoi(captured.out.c_str());
  ASSERT_GT(sleeper, 0);
  const auto lives = [sleeper] {  // a zombie that nobody waits for does not
    std::ifstream stat("/proc/" + std::to_string(sleeper) + "/stat");
    std::string pid, name, state;
    return stat >> pid >> name >> state && state != "Z";
  };
  const uint64_t end = MonotonicNs() + kPatienceNs;
  while (lives() && MonotonicNs() < end) std::this_thread::yield();
  EXPECT_FALSE(lives());
}

TEST(RunCaptured, MoreOutputThanWantedIsRefused) {
  EXPECT_EQ(RunScript("yes", kPatienceNs, {}, 1000).end.how, CapturedEnd::How::kRefused);
}

TEST(RunCaptured, InterruptEndsIt) {
  std::atomic<bool> asked{false};
  std::thread asks([&] { asked = true; });
  const Captured captured =
      RunScript("sleep 1000", kPatienceNs, {-1, [&] { return asked.load(); }});
  asks.join();
  EXPECT_EQ(captured.end.how, CapturedEnd::How::kInterrupted);
}

TEST(RunCaptured, MissingProgramIsNotStarted) {
  const CapturedEnd end =
      RunCaptured({"jankbox-no-such-program"}, kPatienceNs, {}, [](auto) { return true; });
  EXPECT_EQ(end.how, CapturedEnd::How::kNotStarted);
  EXPECT_EQ(end.status, ENOENT);
}

std::string OutputOf(ChildOptions options) {
  options.out = ChildStream::kPiped;
  ChildProcess child;
  EXPECT_EQ(child.Start(options), 0);
  std::string out;
  char block[4096];
  for (ssize_t n; (n = read(child.out().get(), block, sizeof(block))) > 0;) {
    out.append(block, static_cast<size_t>(n));
  }
  child.Wait();
  EXPECT_TRUE(child.HasEnded());
  EXPECT_EQ(child.wait_status(), 0);
  return out;
}

TEST(ChildProcess, EnvironmentIsReplacedAndDropped) {
  setenv("JANKBOX_TEST_A", "old", 1);
  setenv("JANKBOX_TEST_B", "old", 1);
  setenv("JANKBOX_TEST_C", "old", 1);
  EXPECT_EQ(OutputOf({.argv = {"sh", "-c", "echo $JANKBOX_TEST_A,$JANKBOX_TEST_B,$JANKBOX_TEST_C"},
                      .environment = {{"JANKBOX_TEST_A", "new"}},
                      .drops_variable = [](auto name) { return name == "JANKBOX_TEST_B"; }}),
            "new,,old\n");
}

TEST(ChildProcess, PipedInputReachesIt) {
  ChildProcess child;
  ASSERT_EQ(child.Start({.argv = {"sh", "-c", "read line; test \"$line\" = hello"},
                         .in = ChildStream::kPiped}),
            0);
  ASSERT_EQ(write(child.in().get(), "hello\n", 6), 6);
  child.Wait();
  EXPECT_EQ(child.wait_status(), 0);
}

TEST(ChildProcess, NoDescriptorLeaksIntoIt) {
  const std::string listed = OutputOf({.argv = {"ls", "/proc/self/fd"}});
  ChildProcess child;
  ASSERT_EQ(child.Start({.argv = {"true"}, .in = ChildStream::kPiped, .out = ChildStream::kPiped}),
            0);
  EXPECT_EQ(OutputOf({.argv = {"ls", "/proc/self/fd"}}), listed);
  child.Wait();
}

TEST(ChildProcess, SignalAndKillDoNothingOnceItEnded) {
  ChildProcess child;
  ASSERT_EQ(child.Start({.argv = {"true"}}), 0);
  child.Wait();
  child.Signal(SIGKILL);
  child.Kill();
  EXPECT_TRUE(WIFEXITED(child.wait_status()));
}

TEST(ChildProcess, FolderThatMayNotBeSearchedHidesNothing) {
  if (geteuid() == 0) GTEST_SKIP() << "root may search every folder";
  char folder[] = "/tmp/jankbox-process-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  chmod(folder, 0);
  const std::string path = getenv("PATH");
  setenv("PATH", (std::string(folder) + ":" + path).c_str(), 1);
  ChildProcess child;
  EXPECT_EQ(child.Start({.argv = {"jankbox-no-such-program"}}), ENOENT);
  setenv("PATH", path.c_str(), 1);
  rmdir(folder);
}

}  // namespace
}  // namespace jankbox
