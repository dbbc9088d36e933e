#include "base/memory/memory_room.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

namespace jankbox {
namespace {

constexpr size_t kMiB = 1 << 20;

// Leaves the process (a death test's child) `bytes` of address space more than it has.
bool LeaveRoom(size_t bytes) {
  FILE* const statm = fopen("/proc/self/statm", "r");
  unsigned long pages = 0;
  const bool read = statm != nullptr && fscanf(statm, "%lu", &pages) == 1;
  if (statm != nullptr) fclose(statm);
  const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit limit = {most, most};
  return read && setrlimit(RLIMIT_AS, &limit) == 0;
}

class MemoryRoomTest : public testing::Test {
 protected:
  MemoryRoomTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }

  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers' own memory is limited with the program's";
#endif
  }
};

TEST_F(MemoryRoomTest, SaysWhetherThereIsMemory) {
  EXPECT_TRUE(HasMemory(64 * kMiB));
  EXPECT_EXIT(
      {
        const bool limited = LeaveRoom(16 * kMiB);
        const bool small = HasMemory(kMiB);
        const bool large = HasMemory(64 * kMiB);
        const bool given_back = HasMemory(kMiB);
        fprintf(stderr, "%d %d %d %d", limited, small, large, given_back);
        _exit(0);
      },
      testing::ExitedWithCode(0), "^1 1 0 1$");
}

TEST_F(MemoryRoomTest, ThreadGetsTheLibrarysData) {
  void* const library = dlopen("libelf.so.1", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  std::thread thread([library] {
    void* data = nullptr;
    ASSERT_EQ(dlinfo(library, RTLD_DI_TLS_DATA, &data), 0);
#if defined(__x86_64__)  // arm64's loader makes room for it in the thread's own block
    EXPECT_EQ(data, nullptr);
#endif
    EXPECT_TRUE(HasThreadData(library));
    ASSERT_EQ(dlinfo(library, RTLD_DI_TLS_DATA, &data), 0);
    EXPECT_NE(data, nullptr);
  });
  thread.join();
  void* const without = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(without, nullptr) << dlerror();
  EXPECT_TRUE(HasThreadData(without)) << "it has none to get";
}

// The library itself would end the process here, with status 127.
TEST_F(MemoryRoomTest, ThreadWithoutMemoryDoesNotGetIt) {
  EXPECT_EXIT(
      {
        void* const library = dlopen("libelf.so.1", RTLD_NOW | RTLD_LOCAL);
        bool has = true;
        const bool limited = LeaveRoom(128 * kMiB);
        std::thread thread([library, limited, &has] {
          while (limited && (malloc(kMiB) != nullptr || malloc(1) != nullptr)) {
          }
          has = HasThreadData(library);
        });
        thread.join();
        fprintf(stderr, "%d %d", library != nullptr, has);
        _exit(0);
      },
      testing::ExitedWithCode(0), "^1 0$");
}

}  // namespace
}  // namespace jankbox
