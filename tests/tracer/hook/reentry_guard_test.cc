#include "tracer/hook/reentry_guard.h"

#include <gtest/gtest.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace jankbox {
namespace {

template <typename Slot>
class ReentryGuardOf : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(Slot::Prepare()); }
};

using Slots = testing::Types<InitialExecSlot, PthreadKeySlot>;
TYPED_TEST_SUITE(ReentryGuardOf, Slots);

TYPED_TEST(ReentryGuardOf, EachFeatureIsInsideOnceOnAThread) {
  using Guard = BasicReentryGuard<TypeParam>;
  {
    Guard outer(HookFeature::kIo);
    EXPECT_TRUE(outer.entered());
    {
      Guard again(HookFeature::kIo);
      EXPECT_FALSE(again.entered());
      Guard other(HookFeature::kLocks);
      EXPECT_TRUE(other.entered());
    }
    Guard still(HookFeature::kIo);
    EXPECT_FALSE(still.entered());
    std::thread([] { EXPECT_TRUE(Guard(HookFeature::kIo).entered()); }).join();
  }
  EXPECT_TRUE(Guard(HookFeature::kIo).entered());
}

TYPED_TEST(ReentryGuardOf, ErrnoOfTheBodyIsNotTheCallers) {
  using Guard = BasicReentryGuard<TypeParam>;
  errno = 7;
  {
    Guard guard(HookFeature::kIo);
    errno = EBADF;
    {
      Guard refused(HookFeature::kIo);
      errno = EIO;
    }
    EXPECT_EQ(errno, EIO);
  }
  EXPECT_EQ(errno, 7);
}

TYPED_TEST(ReentryGuardOf, ExcludedThreadNeverEnters) {
  using Guard = BasicReentryGuard<TypeParam>;
  std::thread([] {
    Guard::ExcludeThread();
    for (size_t i = 0; i < kHookFeatures; ++i) {
      EXPECT_FALSE(Guard(static_cast<HookFeature>(i)).entered());
    }
  }).join();
  EXPECT_TRUE(Guard(HookFeature::kIo).entered());
}

TYPED_TEST(ReentryGuardOf, ForkedChildGoesOnAsTheThreadThatForked) {
  using Guard = BasicReentryGuard<TypeParam>;
  pid_t child;
  {
    Guard guard(HookFeature::kIo);
    child = fork();
    if (child == 0 && Guard(HookFeature::kIo).entered()) _exit(1);
  }
  if (child == 0) _exit(Guard(HookFeature::kIo).entered() ? 0 : 2);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// H8: all keys are taken. Own process: a key that this test did not get must stay untaken.
TEST(ReentryGuardDeathTest, H8WithoutAKeyNothingIsEntered) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        pthread_key_t key;
        while (pthread_key_create(&key, nullptr) == 0) continue;
        const bool prepared = PthreadKeySlot::Prepare();
        PthreadKeySlot::Usable();
        const bool entered = BasicReentryGuard<PthreadKeySlot>(HookFeature::kIo).entered();
        BasicReentryGuard<PthreadKeySlot>::ExcludeThread();
        _exit(!prepared && !entered ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace jankbox
