#include "base/kept_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace jankbox {
namespace {

int Open(const char* path) { return open(path, O_RDONLY | O_CLOEXEC); }

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) != -1; }

TEST(KeptFd, IsClosedAsAnyOther) {
  int number = -1;
  {
    const KeptFd fd = ScopedFd(Open("/proc/self/stat"));
    number = fd.get();
    EXPECT_TRUE(fd.IsStillOurs());
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(KeptFd, WhatTheAppOpenedUnderItsNumberIsLeftOpen) {
  int number = -1;
  {
    KeptFd fd = ScopedFd(Open("/proc/self/stat"));
    number = fd.get();
    close(number);
    EXPECT_FALSE(fd.IsStillOurs());
    ASSERT_EQ(Open("/dev/null"), number);
    EXPECT_FALSE(fd.IsStillOurs());
    KeptFd moved = std::move(fd);
    EXPECT_FALSE(moved.IsStillOurs());
    moved = ScopedFd(Open("/proc/self/stat"));
    EXPECT_TRUE(moved.IsStillOurs());
  }
  EXPECT_TRUE(IsOpen(number));
  close(number);
}

}  // namespace
}  // namespace jankbox
