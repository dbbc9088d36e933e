#include "tracer/hook/hook_set.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "base/clock.h"
#include "base/last_error.h"
#include "base/loader_use.h"
#include "tests/fakes/latch.h"
#include "tests/tracer/hook/fixture.h"

namespace jankbox {
namespace {

std::string g_calls;  // a letter for each proxy that was passed
using Loop = HookedBy<HookFeature::kLoop>;

int CountedPoll(pollfd* fds, nfds_t count, int timeout_ms) {
  g_calls += 'p';
  return Loop::Original<HookId::kPoll, decltype(::poll)>()(fds, count, timeout_ms);
}

// Chains are permanent, so each test has a HookSet and proxies of its own: `kTest` distinguishes
// them.
template <int kTest, char kLetter>
struct Close {
  static constinit inline OriginalFunction original;
  static int Proxy(int fd) {
    g_calls += kLetter;
    return original.Get<decltype(::close)>()(fd);
  }
  static HookUse Use(HookFeature feature, bool (*callers)(std::string_view)) {
    return {HookId::kClose, feature, callers, reinterpret_cast<void*>(&Proxy), &original};
  }
};

bool NoCaller(std::string_view /*path*/) { return false; }

class HookSetTest : public testing::Test {
 protected:
  std::string CallsOfClose() {
    g_calls.clear();
    errno = 0;
    EXPECT_EQ(fixture_.Close(-1), -1);
    EXPECT_EQ(errno, EBADF);
    return g_calls;
  }

  FixtureFolder folder_;
  Fixture fixture_{folder_.Copy(FixturePaths()[0], "set")};
  HookSet hooks_;
};

TEST_F(HookSetTest, FeaturesOfOneFunctionAreCalledInTheirOrder) {
  ASSERT_TRUE(hooks_.Add(Close<1, 'i'>::Use(HookFeature::kIo, IsFixtureCopy)).ok());
  ASSERT_TRUE(hooks_.Add(Close<1, 'm'>::Use(HookFeature::kMarkers, NoCaller)).ok());
  ASSERT_TRUE(hooks_.Add(Loop::Use<HookId::kPoll>(CountedPoll, IsFixtureCopy)).ok());
  EXPECT_EQ(CallsOfClose(), "");
  Result<HookReport> report = hooks_.Refresh();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->hooked, 2u);
  EXPECT_EQ(CallsOfClose(), "mi");
  EXPECT_EQ(fixture_.Poll(nullptr, 0, 0), 0);
  EXPECT_EQ(g_calls, "mip");
  hooks_.Stop();
  EXPECT_EQ(CallsOfClose(), "");
}

TEST_F(HookSetTest, FeatureThatComesLaterTakesItsPlaceInTheRunningChain) {
  ASSERT_TRUE(hooks_.Add(Close<2, 'i'>::Use(HookFeature::kIo, IsFixtureCopy)).ok());
  ASSERT_TRUE(hooks_.Refresh().ok());
  EXPECT_EQ(CallsOfClose(), "i");
  ASSERT_TRUE(hooks_.Add(Close<2, 'm'>::Use(HookFeature::kMarkers, IsFixtureCopy)).ok());
  EXPECT_EQ(CallsOfClose(), "i");
  ASSERT_TRUE(hooks_.Refresh().ok());
  EXPECT_EQ(CallsOfClose(), "mi");
  hooks_.Stop();

  HookSet other;
  ASSERT_TRUE(other.Add(Close<3, 'm'>::Use(HookFeature::kMarkers, IsFixtureCopy)).ok());
  ASSERT_TRUE(other.Refresh().ok());
  ASSERT_TRUE(other.Add(Close<3, 'i'>::Use(HookFeature::kIo, NoCaller)).ok());
  EXPECT_EQ(CallsOfClose(), "mi");  // at once: the link before it is hooked already
  ASSERT_TRUE(other.Refresh().ok());
  EXPECT_EQ(CallsOfClose(), "mi");
  other.Stop();
}

TEST_F(HookSetTest, SecondStartMayWantLess) {
  const HookUse io = Close<4, 'i'>::Use(HookFeature::kIo, IsFixtureCopy);
  const HookUse markers = Close<4, 'm'>::Use(HookFeature::kMarkers, IsFixtureCopy);
  ASSERT_TRUE(hooks_.Add(markers).ok());
  ASSERT_TRUE(hooks_.Add(io).ok());
  ASSERT_TRUE(hooks_.Refresh().ok());
  EXPECT_EQ(CallsOfClose(), "mi");
  hooks_.Stop();
  ASSERT_TRUE(hooks_.Refresh().ok());
  EXPECT_EQ(CallsOfClose(), "");
  ASSERT_TRUE(hooks_.Add(io).ok());
  ASSERT_TRUE(hooks_.Refresh().ok());
  EXPECT_EQ(CallsOfClose(), "i");
  hooks_.Stop();
  ASSERT_TRUE(hooks_.Add(markers).ok());
  ASSERT_TRUE(hooks_.Refresh().ok());
  EXPECT_EQ(CallsOfClose(), "mi");  // the chain stays linked, a proxy that is off passes on
  hooks_.Stop();
}

TEST_F(HookSetTest, LibraryThatIsLoadedLaterIsHooked) {
  ASSERT_TRUE(hooks_.Add(Close<5, 'i'>::Use(HookFeature::kIo, IsFixtureCopy)).ok());
  ASSERT_TRUE(hooks_.Refresh().ok());
  Fixture later(folder_.Copy(FixturePaths()[0], "set_later"));
  ASSERT_TRUE(hooks_.Refresh().ok());
  g_calls.clear();
  later.Close(-1);
  EXPECT_EQ(g_calls, "i");
  hooks_.Stop();
}

TEST_F(HookSetTest, IncompleteAndSecondUseAreRefused) {
  HookUse incomplete = Close<6, 'i'>::Use(HookFeature::kIo, nullptr);
  incomplete.proxy = nullptr;
  EXPECT_EQ(hooks_.Add(incomplete).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(hooks_.Add(Close<6, 'i'>::Use(HookFeature::kIo, NoCaller)).ok());
  EXPECT_EQ(hooks_.Add(Close<6, 'i'>::Use(HookFeature::kIo, NoCaller)).code(), StatusCode::kBusy);
}

TEST_F(HookSetTest, ForkedChildThatBeginsHasUsesOfItsOwn) {
  ASSERT_TRUE(hooks_.Add(Close<9, 'p'>::Use(HookFeature::kIo, IsFixtureCopy)).ok());
  ASSERT_TRUE(hooks_.Refresh().ok());
  const pid_t child = fork();
  if (child == 0) {
    hooks_.Begin();
    const bool added = hooks_.Add(Close<9, 'p'>::Use(HookFeature::kIo, IsFixtureCopy)).ok();
    const bool hooked = hooks_.Refresh().ok();
    g_calls.clear();
    const std::string calls = CallsOfClose();
    _exit(added && hooked && calls.find('p') != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  hooks_.Stop();
}

TEST_F(HookSetTest, AddAllKeepsTheReasonOfTheUseThatIsRefused) {
  const HookUse uses[] = {Close<7, 'i'>::Use(HookFeature::kIo, NoCaller),
                          Close<7, 'i'>::Use(HookFeature::kIo, NoCaller)};
  hooks_.AddAll(uses, "closes are not recorded");
  EXPECT_EQ(LastError(), "closes are not recorded: hooks: twice close");
}

TEST_F(HookSetTest, ChildOfAForkInTheMiddleOfARefreshStartsItsOwn) {
  LoaderUse::Register();
  ASSERT_TRUE(hooks_.Add(Close<8, 'i'>::Use(HookFeature::kIo, IsFixtureCopy)).ok());
  std::atomic<bool> stop{false};
  std::thread watcher([this, &stop] {
    while (!stop) {
      EXPECT_TRUE(hooks_.Refresh().ok());
      hooks_.Stop();
      EXPECT_TRUE(hooks_.Add(Close<8, 'i'>::Use(HookFeature::kIo, IsFixtureCopy)).ok());
    }
  });
  std::thread sealer([this, &stop] {
    while (!stop) hooks_.Modules();
  });
  int hooked = 0;
  for (int round = 0; round < 40; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a lock that nobody opens
      const bool done = hooks_.Refresh().ok();
      _exit(done ? 0 : LoaderUse::ForkedInside() ? 1 : 2);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) < 2)
        << "round " << round << ": " << status;
    hooked += status == 0 ? 1 : 0;
  }
  stop = true;
  watcher.join();
  sealer.join();
  EXPECT_GE(hooked, 30);  // a fork waits at most 100 ms
  hooks_.Stop();
}

TEST_F(HookSetTest, ChildOfAForkThatCouldNotWaitHooksNothing) {
  LoaderUse::Register();
  Latch inside, forked;
  std::thread loader([&inside, &forked] {
    const LoaderUse use;
    inside.Open();
    forked.Wait();
  });
  inside.Wait();
  const pid_t child = fork();
  if (child == 0) {
    const HookUse use = Close<9, 'i'>::Use(HookFeature::kIo, IsFixtureCopy);
    const bool refused = hooks_.Add(use).code() == StatusCode::kUnavailable &&
                         hooks_.Refresh().status().code() == StatusCode::kUnavailable &&
                         hooks_.Modules().empty();
    hooks_.Stop();
    _exit(refused ? 0 : 1);
  }
  forked.Open();
  loader.join();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(LoaderUse::ForkedInside());
}

HookSet* g_hooks_of_handlers = nullptr;
void RefreshInHandler() {
  if (g_hooks_of_handlers == nullptr) return;
  EXPECT_TRUE(g_hooks_of_handlers->Refresh().ok());
}

// Those that were registered first are called while the fork still goes on.
TEST_F(HookSetTest, HandlerOfTheHostsForkDoesNotWaitForItself) {
  ASSERT_TRUE(hooks_.Add(Close<10, 'i'>::Use(HookFeature::kIo, IsFixtureCopy)).ok());
  g_hooks_of_handlers = &hooks_;
  pthread_atfork(RefreshInHandler, RefreshInHandler, RefreshInHandler);
  LoaderUse::Register();
  const uint64_t begin_ns = MonotonicNs();
  const pid_t child = fork();
  if (child == 0) _exit(HasFailure() ? 1 : 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_LT(MonotonicNs() - begin_ns, 4 * kNsPerSecond);  // it would wait for 5
  g_hooks_of_handlers = nullptr;
  hooks_.Stop();
}

}  // namespace
}  // namespace jankbox
