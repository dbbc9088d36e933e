// A child that shares the parent's mapping writes nothing into it, however it was made; one that
// opens a ring of its own records there.
#include <sched.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <csignal>
#include <functional>
#include <thread>

#include "base/file.h"
#include "tests/tracer/ring/numbered_records.h"
#include "tests/tracer/ring/test_ring.h"

extern char** environ;

namespace jankbox {
namespace {

pid_t RawFork() {
#if defined(SYS_fork)
  return static_cast<pid_t>(syscall(SYS_fork));
#else
  return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
#endif
}
pid_t RawClone() {
  return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

class ForkTest : public RingTest, public testing::WithParamInterface<pid_t (*)()> {
 protected:
  // Runs `in_child` in a child and ends it with what that returns; the child's exit status.
  static int RunChild(const std::function<int()>& in_child) {
    const pid_t child = GetParam()();
    if (child == 0) _exit(in_child());
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -status;
  }
  std::string Bytes() const {
    return std::string(reinterpret_cast<const char*>(ring_->base()), ring_->bytes());
  }
};

int RecordInChild() {
  for (uint64_t n = 0; n < 20'000; ++n) NumberedRecords::Write(n % 2, n);
  return RecordingOn() ? 1 : 0;
}

TEST_P(ForkTest, ChildLeavesItsParentsRingByteForByte) {
  OpenRing(1 << 20);
  for (uint64_t n = 0; n < 100; ++n) NumberedRecords::Write(0, n);
  const std::string before = Bytes();
  EXPECT_EQ(RunChild(RecordInChild), 0);
  EXPECT_EQ(Bytes() == before, true);
  for (uint64_t n = 100; n < 200; ++n) NumberedRecords::Write(0, n);
  NumbersFound found;
  CheckNumbers(Window().threads.at(0), &found);
  EXPECT_EQ(found.decoded, 200u);
}

// Records on the forking thread and on a new one into a ring of its own; what is wrong, or 0.
int RecordIntoOwnRing(const std::string& folder) {
  RingOptions options;
  options.folder = folder;
  options.bytes = 1 << 20;
  options.tick_source = ChooseTickSource();
  RingFile* ring = RingFile::Create(options).value().release();
  if (!ring->Grow().ok() || !Recorder::Open(ring).ok()) return 2;
  for (uint64_t n = 0; n < 5000; ++n) NumberedRecords::Write(0, n);
  std::thread([] {
    for (uint64_t n = 0; n < 5000; ++n) NumberedRecords::Write(1, n);
  }).join();
  const RingWindow window = RingReader(ring->base(), ring->bytes()).CopyWindow(0, UINT64_MAX);
  if (window.threads.size() != 2 || window.dropped_events != 0) return 3;
  for (const WindowThread& thread : window.threads) {
    NumbersFound found;
    CheckNumbers(thread, &found);
    if (found.decoded != 5000 || testing::Test::HasFailure()) return 4;
  }
  return ring->header()->pid == getpid() ? 0 : 5;
}

TEST_P(ForkTest, ChildMayRecordIntoARingOfItsOwn) {
  OpenRing(1 << 20);
  for (uint64_t n = 0; n < 100; ++n) NumberedRecords::Write(0, n);
  const std::string before = Bytes();
  EXPECT_EQ(RunChild([this] { return RecordIntoOwnRing(folder_); }), 0);
  EXPECT_EQ(Bytes() == before, true);
}

TEST_P(ForkTest, ChildOfAThreadThatHasNotRecordedYet) {
  OpenRing(1 << 20);
  const std::string before = Bytes();
  int status = -1;
  std::thread([&status] { status = RunChild(RecordInChild); }).join();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Bytes() == before, true);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, ForkTest, testing::Values(&fork, &RawFork, &RawClone), [](const auto& way) {
      return std::string(way.index == 0 ? "fork" : way.index == 1 ? "SYS_fork" : "SYS_clone");
    });

using VforkTest = RingTest;

// The child borrows the thread: its records are the thread's own.
TEST_F(VforkTest, RecordsGoOnInOrderAroundVforkAndSpawn) {
  OpenRing(1 << 20);
  volatile uint64_t n = 0;
  const auto write = [&n](int count) {
    for (int i = 0; i < count; ++i) {
      NumberedRecords::Write(0, n);
      n = n + 1;
    }
  };
  char program[] = "/bin/true";
  char* const argv[] = {program, nullptr};
  for (int round = 0; round < 20; ++round) {
    write(500);
    pid_t child = vfork();
    if (child == 0) {
      write(1);
      execv(program, argv);
      _exit(9);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    write(500);
    ASSERT_EQ(posix_spawn(&child, program, nullptr, nullptr, argv, environ), 0);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  NumbersFound found;
  CheckNumbers(Window().threads.at(0), &found);
  EXPECT_EQ(found.next, n);
}

// Its cursor would be named after the child, which is soon dead, and be given to another thread.
TEST_F(VforkTest, FirstEventInAVforkChildDoesNotAttachTheThread) {
  OpenRing(1 << 20);
  const pid_t child = vfork();
  if (child == 0) {
    NumberedRecords::Write(0, 0);
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(Window().dropped_events, 1u);
  RecordEvent(EventKind::kInstant, 1);
  Recorder::ReclaimDeadThreads(ring_.get());
  RecordEvent(EventKind::kInstant, 2);
  EXPECT_EQ(Window().threads.size(), 1u);
  EXPECT_EQ(Events(Window(), CurrentTid()).size(), 2u);
}

}  // namespace
}  // namespace jankbox
