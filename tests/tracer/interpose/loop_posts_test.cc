// Who wakes a watched thread that reads an event descriptor.
#include "tracer/interpose/loop_posts.h"

#include <gmock/gmock.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>

#include "tests/tracer/interpose/interpose_test.h"
#include "tracer/interpose/fd_classes.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using ReadFn = ssize_t(int, void*, size_t);
using FdFn = int(int);
using EventfdReadFn = int(int, eventfd_t*);
using EventfdWriteFn = int(int, eventfd_t);

class LoopPostsTest : public SourceTest {
 protected:
  void SetUp() override {
    SourceTest::SetUp();
    fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ASSERT_GE(fd_, 0);
    FdClasses::ForgetAll();
    Read();  // this thread's loop is known from now on
  }
  void TearDown() override {
    Proxy<FdFn>(HookId::kClose)(fd_);
    SourceTest::TearDown();
  }

  void Read() {
    uint64_t value;
    Write(1);  // of this thread's own: none was woken by it
    EXPECT_EQ(Proxy<ReadFn>(HookId::kRead)(fd_, &value, sizeof(value)), 8);
  }
  // As a hooked write() does it.
  void Write(uint64_t value) {
    LoopPosts::BeforeWrite(fd_, sizeof(value));
    ASSERT_EQ(write(fd_, &value, sizeof(value)), 8);
  }
  void WriteElsewhere(int32_t* tid) {
    std::thread([&] {
      *tid = CurrentTid();
      Write(1);
    }).join();
  }
  // The threads that woke this one.
  std::vector<int32_t> Wakers() {
    std::vector<int32_t> wakers;
    for (const ThreadEvent& event : ThreadEvents(Window())) {
      EXPECT_EQ(event.step, ThreadStep::kWoken);
      EXPECT_EQ(event.tid, CurrentTid());
      wakers.push_back(event.waker_tid);
    }
    return wakers;
  }

  int fd_ = -1;
};

TEST_F(LoopPostsTest, FirstThreadThatWritesAfterAReadIsTheWaker) {
  int32_t first = 0, second = 0, third = 0;
  WriteElsewhere(&first);
  WriteElsewhere(&second);
  Read();
  Read();
  WriteElsewhere(&third);
  Read();
  EXPECT_THAT(Wakers(), ElementsAre(first, third));
}

TEST_F(LoopPostsTest, MomentIsThatOfTheWrite) {
  int32_t tid = 0;
  const uint64_t before = NowTicks();
  WriteElsewhere(&tid);
  const uint64_t after = NowTicks();
  Read();
  const std::vector<ThreadEvent> events = ThreadEvents(Window());
  ASSERT_EQ(events.size(), 1u);
  EXPECT_GE(events[0].ticks, before);
  EXPECT_LE(events[0].ticks, after);
}

TEST_F(LoopPostsTest, OwnWritesAndWritesToOtherDescriptorsWakeNobody) {
  const int other = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::thread([&] {
    LoopPosts::BeforeWrite(other, 8);
    LoopPosts::BeforeWrite(fd_ + 64, 8);
    LoopPosts::BeforeWrite(fd_, 4);  // no event
    LoopPosts::BeforeWrite(-1, 8);
  }).join();
  Read();
  EXPECT_THAT(Wakers(), IsEmpty());
  close(other);
}

TEST_F(LoopPostsTest, ClosedDescriptorIsForgotten) {
  int32_t tid = 0;
  WriteElsewhere(&tid);
  Proxy<FdFn>(HookId::kClose)(fd_);
  const int again = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  ASSERT_EQ(again, fd_) << "the same number";
  Read();
  EXPECT_THAT(Wakers(), IsEmpty());
}

TEST_F(LoopPostsTest, FunctionsOfEventDescriptorsCountToo) {
  int32_t tid = 0;
  std::thread([&] {
    tid = CurrentTid();
    EXPECT_EQ(Proxy<EventfdWriteFn>(HookId::kEventfdWrite)(fd_, 5), 0);
  }).join();
  eventfd_t value = 0;
  EXPECT_EQ(Proxy<EventfdReadFn>(HookId::kEventfdRead)(fd_, &value), 0);
  EXPECT_EQ(value, 5u);
  EXPECT_THAT(Wakers(), ElementsAre(tid));
  EXPECT_EQ(Proxy<EventfdReadFn>(HookId::kEventfdRead)(fd_, &value), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(LoopPostsTest, MoreDescriptorsThanAreKeptWakeNobodyWrongly) {
  std::vector<int> fds;
  for (int i = 0; i < 40; ++i) fds.push_back(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  uint64_t value;
  for (const int fd : fds) Proxy<ReadFn>(HookId::kRead)(fd, &value, sizeof(value));
  int32_t tid = 0;
  std::thread([&] {
    tid = CurrentTid();
    for (const int fd : fds) {
      LoopPosts::BeforeWrite(fd, 8);
      eventfd_write(fd, 1);
    }
  }).join();
  for (const int fd : fds) Proxy<ReadFn>(HookId::kRead)(fd, &value, sizeof(value));
  for (const int32_t waker : Wakers()) EXPECT_EQ(waker, tid);
  for (const int fd : fds) Proxy<FdFn>(HookId::kClose)(fd);
}

}  // namespace
}  // namespace jankbox
