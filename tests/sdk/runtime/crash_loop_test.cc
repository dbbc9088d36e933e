// H16: what the file says, what is decided from it, and whole processes that die young.
#include "sdk/runtime/crash_loop.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "base/file.h"

namespace jankbox {
namespace {

StartEnd Failed(const ProcessIdentity& /*start*/) { return StartEnd::kFailed; }
StartEnd Forgiven(const ProcessIdentity& /*start*/) { return StartEnd::kForgiven; }
StartEnd Lives(const ProcessIdentity& /*start*/) { return StartEnd::kLives; }

TEST(StartHistory, IsReadAsItWasWritten) {
  const StartHistory history = {2, {{"boot-a", 12, 345}, {"", 67, 890}}};
  const std::string text = FormatStartHistory(history);
  EXPECT_EQ(text, "jankbox starts 1\nfailed 2\nyoung 12 345 boot-a\nyoung 67 890 \n");
  const StartHistory read = ParseStartHistory(text);
  EXPECT_EQ(read.failed, 2u);
  ASSERT_EQ(read.young.size(), 2u);
  EXPECT_EQ(read.young[0].pid, 12);
  EXPECT_EQ(read.young[0].start_ticks, 345u);
  EXPECT_EQ(read.young[0].boot_id, "boot-a");
}

TEST(StartHistory, GarbageCountsAsNone) {
  const std::string text = "jankbox starts 1\nfailed 2\nyoung 12 345 boot-a\n";
  for (size_t size = 0; size < text.size(); ++size) {
    const StartHistory cut = ParseStartHistory(text.substr(0, size));
    EXPECT_TRUE(cut.failed == 0 || text[size - 1] == '\n') << size;
  }
  for (const char* bad :
       {"", "\n", "failed 2\n", "jankbox starts 2\nfailed 2\n", "jankbox starts 1\nfailed -1\n",
        "jankbox starts 1\nfailed 4000000000\n", "jankbox starts 1\nfailed 2\nyoung 0 1 b\n",
        "jankbox starts 1\nfailed 2\nyoung -5 1 b\n", "jankbox starts 1\nfailed 2\nwhat\n"}) {
    EXPECT_EQ(ParseStartHistory(bad).failed, 0u) << bad;
    EXPECT_TRUE(ParseStartHistory(bad).young.empty()) << bad;
  }
  std::string many = "jankbox starts 1\nfailed 2\n";
  for (int i = 1; i < 100; ++i) many += "young " + std::to_string(i) + " 1 b\n";
  EXPECT_EQ(ParseStartHistory(many).failed, 0u);
}

TEST(StartHistory, FailedStartsAreCountedAndLivingOnesWait) {
  const StartHistory history = {1, {{"b", 1, 1}, {"b", 2, 2}}};
  EXPECT_EQ(CountEndedStarts(history, Failed).failed, 3u);
  EXPECT_TRUE(CountEndedStarts(history, Failed).young.empty());
  EXPECT_EQ(CountEndedStarts(history, Forgiven).failed, 1u);
  EXPECT_TRUE(CountEndedStarts(history, Forgiven).young.empty());
  EXPECT_EQ(CountEndedStarts(history, Lives).failed, 1u);
  EXPECT_EQ(CountEndedStarts(history, Lives).young.size(), 2u);
}

TEST(StartHistory, HooksAreSuspectedWhileTheyChangeAndSoonAfter) {
  constexpr uint64_t kSecond = 1'000'000'000;
  auto header = std::make_unique<RingHeader>();
  header->tick_source = static_cast<uint32_t>(TickSource::kClockGettime);
  header->clock_at_start = {kSecond, kSecond, kSecond, kSecond};
  const auto died = [&](uint64_t changed, uint64_t last_sign) {
    header->hooks_changed_ticks = changed;
    header->heartbeat_ticks = header->calibrated_ticks = header->calibrated_monotonic_ns =
        last_sign;
    return MayHaveDiedOfHooks(*header);
  };
  EXPECT_FALSE(died(0, 2 * kSecond)) << "there were none";
  EXPECT_TRUE(died(2 * kSecond, 2 * kSecond));
  EXPECT_TRUE(died(2 * kSecond, 3 * kSecond));
  EXPECT_FALSE(died(2 * kSecond, 4 * kSecond));
  header->hooks_changing = 1;
  EXPECT_TRUE(died(2 * kSecond, 4 * kSecond)) << "again";
  EXPECT_TRUE(died(0, 4 * kSecond)) << "for the first time";
  header->closed = static_cast<uint32_t>(RingEnd::kClosed);
  EXPECT_FALSE(died(2 * kSecond, 2 * kSecond)) << "it ended by itself";
}

class CrashLoopTest : public testing::Test {
 protected:
  CrashLoopTest() {
    std::string path = (std::filesystem::temp_directory_path() / "jankbox-starts-XXXXXX").string();
    folder_ = mkdtemp(path.data());
  }
  ~CrashLoopTest() override { std::filesystem::remove_all(folder_); }

  // A process that starts and then is killed, ends orderly, or lives; whether it had hooks.
  bool Start(void (*then)(CrashLoop*)) {
    const pid_t child = fork();
    if (child == 0) {
      CrashLoop loop(folder_, "program");
      loop.Begin();
      const bool hooks = loop.HooksAllowed(0);
      if (hooks != loop.Reason().empty()) _exit(9);
      then(&loop);
      _exit(hooks ? 1 : 0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status) == 1;
  }
  static void Dies(CrashLoop* /*loop*/) {}
  static void Ends(CrashLoop* loop) { loop->Ended(); }
  static void Lives(CrashLoop* loop) { loop->Lived(); }

  std::string File() const { return folder_ + "/.starts-program"; }

  std::string folder_;
};

TEST_F(CrashLoopTest, H16HooksStayOffAfterTwoStartsThatDiedUntilOneLives) {
  EXPECT_TRUE(Start(Dies));
  EXPECT_TRUE(Start(Dies));
  EXPECT_FALSE(Start(Dies));
  EXPECT_FALSE(Start(Ends));  // an orderly end forgives nothing
  EXPECT_FALSE(Start(Lives));
  EXPECT_FALSE(std::filesystem::exists(File()));
  EXPECT_TRUE(Start(Dies));
  EXPECT_TRUE(Start(Ends));
  EXPECT_TRUE(Start(Dies));
  EXPECT_FALSE(Start(Ends));
}

TEST_F(CrashLoopTest, H16OtherProgramsAndLivingProcessesDoNotCount) {
  CrashLoop living(folder_, "program");
  living.Begin();
  EXPECT_TRUE(Start(Dies));
  EXPECT_TRUE(Start(Dies));
  CrashLoop other(folder_, "another program");
  other.Begin();
  EXPECT_TRUE(other.HooksAllowed(0));
  EXPECT_FALSE(Start(Ends));
  living.Lived();
  EXPECT_TRUE(Start(Ends));
}

TEST_F(CrashLoopTest, H16StartThatWasForgivenIsNoFailedOne) {
  pid_t dead = 0;
  for (int i = 0; i < 3; ++i) {
    dead = fork();
    if (dead == 0) {
      CrashLoop(folder_, "program").Begin();
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(dead, &status, 0), dead);
    ForgiveStart(folder_, dead);
  }
  EXPECT_FALSE(std::filesystem::exists(File()));
  EXPECT_TRUE(Start(Dies));
  EXPECT_TRUE(Start(Dies));
  ForgiveStart(folder_, dead);  // of another start
  EXPECT_FALSE(Start(Ends));
}

TEST_F(CrashLoopTest, H16HooksStayOffUntilItIsDecided) {
  CrashLoop loop(folder_, "program");
  EXPECT_FALSE(loop.HooksAllowed(1'000'000));
  loop.Begin();
  EXPECT_TRUE(loop.HooksAllowed(0));
}

TEST_F(CrashLoopTest, H16GarbageLinksAndFoldersInItsPlaceLeaveHooksOn) {
  std::ofstream(File()) << std::string(100'000, '\xff');
  EXPECT_TRUE(Start(Dies));
  EXPECT_EQ(ParseStartHistory(ReadFile(File(), 4096).value()).young.size(), 1u);
  std::filesystem::remove(File());
  const std::string target = folder_ + "/not ours";
  std::ofstream(target) << "keep";
  std::filesystem::create_symlink(target, File());
  EXPECT_TRUE(Start(Dies));
  EXPECT_EQ(ReadFile(target, 100).value(), "keep");
  std::filesystem::remove(File());
  ASSERT_EQ(mkfifo((File() + ".new").c_str(), 0600), 0);  // would block who opens it
  EXPECT_TRUE(Start(Dies));
  std::filesystem::remove(File());
  std::filesystem::create_directories(File() + "/in the way");
  EXPECT_TRUE(Start(Lives));
}

TEST_F(CrashLoopTest, H16FullDiskLeavesHooksOnAndNoFileBehind) {
  const std::string disk = folder_ + "/disk";
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=4096,nr_inodes=64") != 0) {
    GTEST_SKIP() << "mounting a tmpfs needs root";
  }
  std::ofstream(disk + "/filler") << std::string(4096, 'x');
  {
    CrashLoop loop(disk, "program");
    loop.Begin();
    EXPECT_TRUE(loop.HooksAllowed(0));
    loop.Lived();
    loop.Ended();
  }
  EXPECT_EQ(ListDirectory(disk).value(), std::vector<std::string>{"filler"});
  EXPECT_EQ(umount(disk.c_str()), 0);
}

}  // namespace
}  // namespace jankbox
