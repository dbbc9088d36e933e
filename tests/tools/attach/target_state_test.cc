#include "tools/attach/target_state.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/scoped_fd.h"

namespace jankbox::tools {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TargetTerminals, InputAndWhatElseIsOpenOfTheTerminalCount) {
  int other_end = -1;
  const pid_t child = forkpty(&other_end, nullptr, nullptr, nullptr);
  if (child == 0) {
    dup2(open("/dev/null", O_RDWR), 6);
    dup2(open("/dev/tty", O_RDWR), 7);
    dup2(STDIN_FILENO, 9);
    (void)!write(9, "ready", 5);
    for (;;) pause();
  }
  ASSERT_GT(child, 0);
  const ScopedFd terminal(other_end);
  char byte = 0;
  ASSERT_EQ(read(terminal.get(), &byte, 1), 1);
  const uint64_t found = TerminalsOf(child);
  EXPECT_EQ(found & 0b111, 0b001u);  // neither output nor errors
  EXPECT_EQ(found >> 6, 0b1010u);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(TargetTerminals, ProcessThatIsGoneHasNone) { EXPECT_EQ(TerminalsOf(1 << 30), 0u); }

TEST(TargetFreezer, FilesAreThoseOfBothVersions) {
  EXPECT_THAT(FreezerFiles("9:name=systemd:/a\n6:freezer:/box/1\n1:cpu:/\n0::/user.slice/x\n"),
              ElementsAre("/sys/fs/cgroup/freezer/box/1/freezer.state",
                          "/sys/fs/cgroup/user.slice/x/cgroup.events",
                          "/sys/fs/cgroup/unified/user.slice/x/cgroup.events"));
  EXPECT_THAT(FreezerFiles("6:freezer:/\n0::/\n"), IsEmpty());
  EXPECT_THAT(FreezerFiles("nonsense"), IsEmpty());
}

TEST(TargetFreezer, BothVersionsSayThatTheyAreFrozen) {
  EXPECT_TRUE(SaysFrozen("populated 1\nfrozen 1\n"));
  EXPECT_FALSE(SaysFrozen("populated 1\nfrozen 0\n"));
  EXPECT_TRUE(SaysFrozen("FROZEN\n"));
  EXPECT_FALSE(SaysFrozen("FREEZING\n"));
  EXPECT_FALSE(SaysFrozen("THAWED\n"));
  EXPECT_FALSE(SaysFrozen(""));
}

}  // namespace
}  // namespace jankbox::tools
