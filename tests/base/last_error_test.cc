#include "base/last_error.h"

#include <gmock/gmock.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;

class LastErrorTest : public testing::Test {
 protected:
  LastErrorTest() {
    SetLogSink([this](std::string_view line) { lines_.emplace_back(line); });
  }
  ~LastErrorTest() override { SetLogSink(nullptr); }

  std::vector<std::string> lines_;
};

TEST_F(LastErrorTest, IsTheLastOne) {
  SetLastError("first");
  EXPECT_EQ(LastError(), "first");
  SetLastError("second");
  EXPECT_EQ(LastError(), "second");
  EXPECT_EQ(LastError(), "second") << "reading it does not clear it";
}

TEST_F(LastErrorTest, EveryOneIsLogged) {
  SetLastError("first");
  SetLastError("second");
  EXPECT_THAT(lines_, ElementsAre("first", "second"));
}

TEST_F(LastErrorTest, IsOfTheProcessNotOfTheThread) {
  std::thread other([] { SetLastError("from another thread"); });
  other.join();
  EXPECT_EQ(LastError(), "from another thread");
}

TEST_F(LastErrorTest, TextIsItsThreadsUntilThatAsksAgain) {
  SetLastError("first");
  const std::string_view first = LastError();
  std::thread other([] {
    SetLastError("second");
    EXPECT_EQ(LastError(), "second");
  });
  other.join();
  EXPECT_EQ(first, "first");
  EXPECT_EQ(first.data()[first.size()], '\0');
  EXPECT_EQ(LastError(), "second");
}

TEST_F(LastErrorTest, IsToldWhereNoThreadKeyIsLeft) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // a process that has not asked yet
  EXPECT_EXIT(
      {
        pthread_key_t key;
        while (pthread_key_create(&key, nullptr) == 0) {
        }
        SetLastError("first");
        const std::string first(LastError());
        SetLastError("second");
        fprintf(stderr, "%s, %s", first.c_str(), LastError().data());
        _exit(0);
      },
      testing::ExitedWithCode(0), "^first, second$");
}

}  // namespace
}  // namespace jankbox
