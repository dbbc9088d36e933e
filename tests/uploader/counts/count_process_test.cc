// Several processes at one book, and kills at random moments.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <vector>

#include "tests/uploader/counts/counted_incident.h"
#include "tests/uploader/temporary_folder.h"
#include "uploader/counts/count_book.h"

namespace jankbox {
namespace {

template <typename Body>
pid_t Child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

TEST(CountProcesses, ManyAtOnceCountAll) {
  constexpr int kProcesses = 4;
  constexpr int kEach = 50;
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(Child([&] {
      CountBook book(folder.path());
      // A busy machine may keep another one from its turn for a second: counted with the next.
      for (int k = 0; k < kEach; ++k) (void)book.Count(Incident("a")).ok();
      for (int k = 0; k < 100; ++k) {
        if (book.Close().ok()) return 0;
      }
      return 1;
    }));
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(SumOfKey(CountBook::Read(folder.path()).value(), "a").incidents,
            uint64_t{kProcesses * kEach});
}

TEST(CountProcesses, KilledAtAnyMomentTheCountIsRight) {
  const TemporaryFolder folder;
  std::mt19937 random(5);
  uint64_t told = 0;
  uint64_t kills = 0;
  for (; kills < 60; ++kills) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = Child([&] {
      CountBook book(folder.path());
      for (;;) {
        if (!book.Count(Incident("a")).ok()) return 1;
        if (write(pipe_ends[1], "c", 1) != 1) return 2;
        book.Settle();
      }
    });
    close(pipe_ends[1]);
    char byte = 0;
    ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
    ++told;
    usleep(random() % 3000);
    kill(child, SIGKILL);
    while (read(pipe_ends[0], &byte, 1) == 1) ++told;
    close(pipe_ends[0]);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    // Each process had at most one count that it could not tell.
    const ReportCountBook book = CountBook::Read(folder.path()).value();
    EXPECT_GE(SumOfKey(book, "a").incidents, told);
    EXPECT_LE(SumOfKey(book, "a").incidents, told + kills + 1);
    EXPECT_EQ(book.begun, "new");
  }
}

}  // namespace
}  // namespace jankbox
