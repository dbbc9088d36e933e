#include "uploader/spool/spool_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "tests/uploader/temporary_folder.h"

namespace jankbox {
namespace {

TEST(SpoolLock, SecondHolderIsBusy) {
  const TemporaryFolder folder;
  std::optional<Result<SpoolLock>> first = SpoolLock::Acquire(folder / "lock", 0);
  ASSERT_TRUE(first->ok());
  EXPECT_EQ(SpoolLock::Acquire(folder / "lock", 0).status().code(), StatusCode::kBusy);
  EXPECT_EQ(SpoolLock::Acquire(folder / "lock", 10).status().code(), StatusCode::kBusy);
  first.reset();
  EXPECT_TRUE(SpoolLock::Acquire(folder / "lock", 0).ok());
}

TEST(SpoolLock, DiesWithItsHolder) {
  const TemporaryFolder folder;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    Result<SpoolLock> lock = SpoolLock::Acquire(folder / "lock", 0);
    if (write(ready[1], lock.ok() ? "y" : "n", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  ASSERT_EQ(answer, 'y');
  EXPECT_EQ(SpoolLock::Acquire(folder / "lock", 0).status().code(), StatusCode::kBusy);
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(SpoolLock::Acquire(folder / "lock", 0).ok());
  close(ready[0]);
  close(ready[1]);
}

TEST(SpoolLock, ForkedChildKeepsNothingLocked) {
  const TemporaryFolder folder;
  std::optional<Result<SpoolLock>> lock = SpoolLock::Acquire(folder / "lock", 0);
  ASSERT_TRUE(lock->ok());
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();  // with a copy of the descriptor
  }
  lock.reset();
  EXPECT_TRUE(SpoolLock::Acquire(folder / "lock", 0).ok());
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
}

TEST(SpoolLock, LinksAndFifosAreRefusedAtOnce) {
  const TemporaryFolder folder;
  ASSERT_EQ(symlink("/etc/passwd", (folder / "link").c_str()), 0);
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_FALSE(SpoolLock::Acquire(folder / "link", 0).ok());
  EXPECT_FALSE(SpoolLock::Acquire(folder / "fifo", 0).ok());
  EXPECT_EQ(SpoolLock::Acquire(folder / "none/lock", 0).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace jankbox
