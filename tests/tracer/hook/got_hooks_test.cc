#include "tracer/hook/got_hooks.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "base/file.h"
#include "tests/tracer/hook/elf_file_slots.h"
#include "tests/tracer/hook/fixture.h"

namespace jankbox {
namespace {

// Hookers with proxies of their own: 0 and 1 in most tests, two more for each order of operations.
constexpr size_t kOrders = 24;
constexpr size_t kHookers = 2 + 2 * kOrders;
int g_polls[kHookers];
int g_getppids[kHookers];
OriginalFunction g_poll[kHookers];
OriginalFunction g_getppid[kHookers];
OriginalFunction g_absent;

template <size_t kHooker>
int PollProxy(pollfd* fds, nfds_t count, int timeout_ms) {
  ++g_polls[kHooker];
  auto* original = g_poll[kHooker].Get<decltype(::poll)>();
  return original(fds, count, timeout_ms);
}

template <size_t kHooker>
pid_t GetppidProxy() {
  ++g_getppids[kHooker];
  return g_getppid[kHooker].Get<decltype(::getppid)>()();
}

int g_closes;
OriginalFunction g_close;

int CloseProxy(int fd) {
  ++g_closes;
  return g_close.Get<decltype(::close)>()(fd);
}

int AbsentProxy(int) { return 7; }

template <size_t kHooker>
std::vector<HookRequest> Requests() {
  return {
      {"poll", IsFixtureCopy, reinterpret_cast<void*>(&PollProxy<kHooker>), &g_poll[kHooker]},
      {"getppid", IsFixtureCopy, reinterpret_cast<void*>(&GetppidProxy<kHooker>),
       &g_getppid[kHooker]},
  };
}

template <size_t... kHooker>
std::vector<HookRequest> RequestsOf(size_t hooker, std::index_sequence<kHooker...>) {
  std::vector<HookRequest> (*const all[])() = {&Requests<kHooker>...};
  return all[hooker]();
}

// The lines of /proc/self/maps of one file.
std::string MappingsOf(const std::string& path) {
  std::istringstream maps(ReadProcFile("/proc/self/maps"));
  std::string found;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(path) != std::string::npos) found += line + "\n";
  }
  return found;
}

std::vector<void*> SlotValues(const Fixture& fixture, const std::string& symbol) {
  std::vector<void*> values;
  for (uint64_t slot : SlotsInElfFile(fixture.path(), symbol)) {
    void* value = *reinterpret_cast<void* const volatile*>(fixture.load_bias() + slot);
    values.push_back(value);
  }
  return values;
}

class GotHooksOfFixture : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::fill_n(g_polls, 2, 0);
    std::fill_n(g_getppids, 2, 0);
    for (int i = 0; i < 2; ++i) {
      g_poll[i].Set(nullptr);
      g_getppid[i].Set(nullptr);
    }
  }

  FixtureFolder folder_;
  Fixture fixture_{folder_.Copy(GetParam(), "hooks")};
  GotHooks hooks_;
};

TEST_P(GotHooksOfFixture, AllCallsGoThroughTheProxyUntilUninstall) {
  ASSERT_TRUE(fixture_.loaded());
  const std::vector<void*> polls_before = SlotValues(fixture_, "poll");
  const std::vector<void*> getppids_before = SlotValues(fixture_, "getppid");
  Result<HookReport> report = hooks_.Install(Requests<0>());
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->hooked, polls_before.size() + getppids_before.size());
  EXPECT_EQ(report->missed, 0u);
  EXPECT_EQ(fixture_.Poll(nullptr, 0, 0), 0);
  EXPECT_EQ(fixture_.Getppid(), getppid());
  EXPECT_EQ(fixture_.TableGetppid(0), getppid());
  EXPECT_EQ(fixture_.TableGetppid(1), getppid());
  EXPECT_EQ(g_polls[0], 1);
  EXPECT_EQ(g_getppids[0], 3);  // the test's own calls are not hooked
  hooks_.Uninstall();
  EXPECT_EQ(SlotValues(fixture_, "poll"), polls_before);
  EXPECT_EQ(SlotValues(fixture_, "getppid"), getppids_before);
  EXPECT_EQ(fixture_.Poll(nullptr, 0, 0), 0);
  EXPECT_EQ(fixture_.TableGetppid(0), getppid());
  EXPECT_EQ(g_polls[0], 1);
  EXPECT_EQ(g_getppids[0], 3);
}

TEST_P(GotHooksOfFixture, H9PagesKeepTheirPermissions) {
  const std::string before = MappingsOf(fixture_.path());
  ASSERT_NE(before.find("r--p"), std::string::npos);
  Result<HookReport> report = hooks_.Install(Requests<0>());
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(MappingsOf(fixture_.path()), before);
  EXPECT_EQ(report->pages_left_writable, 0u);
  hooks_.Uninstall();
  EXPECT_EQ(MappingsOf(fixture_.path()), before);
}

TEST_P(GotHooksOfFixture, H6ErrnoAndResultsAreThoseOfTheFunction) {
  auto outcomes = [&] {
    std::vector<std::pair<int, int>> all;  // result, errno
    pollfd closed{.fd = 1 << 20, .events = POLLIN};
    for (int i = 0; i < 1000; ++i) {
      errno = i;
      const int fine = fixture_.Poll(&closed, 1, 0);
      all.emplace_back(fine, errno);
      const int bad = fixture_.Close(-1 - i);
      all.emplace_back(bad, errno);
    }
    return all;
  };
  const std::vector<std::pair<int, int>> without = outcomes();
  std::vector<HookRequest> requests = Requests<0>();
  requests.push_back({"close", IsFixtureCopy, reinterpret_cast<void*>(&CloseProxy), &g_close});
  ASSERT_TRUE(hooks_.Install(requests).ok());
  g_closes = 0;
  EXPECT_EQ(outcomes(), without);
  EXPECT_EQ(g_polls[0], 1000);
  EXPECT_EQ(g_closes, 1000);
  EXPECT_EQ(without[0], std::pair(1, 0));
  EXPECT_EQ(without[1], std::pair(-1, EBADF));
  hooks_.Uninstall();
}

TEST_P(GotHooksOfFixture, LibraryLoadedLaterIsHookedByRefresh) {
  Result<HookReport> first = hooks_.Install(Requests<0>());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(hooks_.Refresh().hooked, first->hooked);
  Fixture later(folder_.Copy(GetParam(), "later"));
  EXPECT_EQ(later.Poll(nullptr, 0, 0), 0);
  EXPECT_EQ(g_polls[0], 0);
  const HookReport report = hooks_.Refresh();
  EXPECT_EQ(report.hooked, 2 * first->hooked);
  EXPECT_EQ(later.Poll(nullptr, 0, 0), 0);
  EXPECT_EQ(g_polls[0], 1);
  EXPECT_EQ(hooks_.Refresh().hooked, 2 * first->hooked);  // settles
  hooks_.Uninstall();
  EXPECT_EQ(later.Poll(nullptr, 0, 0), 0);
  EXPECT_EQ(g_polls[0], 1);
}

TEST_P(GotHooksOfFixture, UnloadedLibraryIsForgottenAndHookedAgainWhenItComesBack) {
  const std::string path = folder_.Copy(GetParam(), "leaves");
  const uint32_t alone = hooks_.Install(Requests<0>())->hooked;
  {
    Fixture leaves(path);
    EXPECT_EQ(hooks_.Refresh().hooked, 2 * alone);
  }
  ASSERT_EQ(dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY), nullptr) << "the hook holds it";
  EXPECT_EQ(hooks_.Refresh().hooked, alone);
  Fixture again(path);
  EXPECT_EQ(hooks_.Refresh().hooked, 2 * alone);
  EXPECT_EQ(again.Getppid(), getppid());
  EXPECT_EQ(g_getppids[0], 1);
  hooks_.Uninstall();
}

// Two hookers of the same slots that come and go in any order: calls always arrive, and pass each
// hooker that is installed, none of them twice.
TEST_P(GotHooksOfFixture, H3TwoHookersInAnyOrderKeepTheChainIntact) {
  std::array<int, 4> order = {0, 1, 2, 3};  // A in, B in, A out, B out
  size_t round = 0;
  do {
    Fixture fixture(folder_.Copy(GetParam(), "order" + std::to_string(round)));
    const size_t first = 2 + 2 * round++;
    GotHooks hookers[2];
    bool installed[2] = {};
    for (int operation : order) {
      const size_t who = static_cast<size_t>(operation % 2);
      if (operation < 2) {
        const auto requests = RequestsOf(first + who, std::make_index_sequence<kHookers>());
        ASSERT_TRUE(hookers[who].Install(requests).ok());
      } else {
        hookers[who].Uninstall();
      }
      installed[who] = operation < 2;
      int* const polls = &g_polls[first];
      polls[0] = polls[1] = 0;
      EXPECT_EQ(fixture.Poll(nullptr, 0, 0), 0);
      EXPECT_EQ(fixture.TableGetppid(0), getppid());
      EXPECT_LE(std::max(polls[0], polls[1]), 1);
      EXPECT_GE(polls[0], installed[0] ? 1 : 0);
      EXPECT_GE(polls[1], installed[1] ? 1 : 0);
    }
    for (GotHooks& hooker : hookers) hooker.Uninstall();
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(round, kOrders);
}

// A hooker that knows nothing of us, on one slot.
TEST_P(GotHooksOfFixture, H3SlotThatSomebodyHookedAfterUsIsNotOverwritten) {
  ASSERT_TRUE(hooks_.Install(Requests<0>()).ok());
  const uint64_t slot = fixture_.load_bias() + *SlotsInElfFile(fixture_.path(), "poll").begin();
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  ASSERT_EQ(mprotect(reinterpret_cast<void*>(slot & ~(page - 1)), page, PROT_READ | PROT_WRITE), 0);
  void* volatile* word = reinterpret_cast<void* volatile*>(slot);
  g_poll[1].Set(*word);
  *word = reinterpret_cast<void*>(&PollProxy<1>);
  hooks_.Refresh();
  hooks_.Uninstall();
  EXPECT_EQ(*word, reinterpret_cast<void*>(&PollProxy<1>));
  EXPECT_EQ(fixture_.Poll(nullptr, 0, 0), 0);
  EXPECT_EQ(g_polls[1], 1);
  EXPECT_EQ(g_polls[0], 1);  // still in the chain, still calling on
}

TEST_P(GotHooksOfFixture, AbsentWeakImportStaysAbsent) {
  const HookRequest request = {"jankbox_absent_function", IsFixtureCopy,
                               reinterpret_cast<void*>(&AbsentProxy), &g_absent};
  Result<HookReport> report = hooks_.Install({&request, 1});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->hooked, 0u);
  EXPECT_EQ(report->misses[static_cast<size_t>(HookMiss::kNoOriginal)], report->missed);
  EXPECT_GT(report->missed, 0u);
  EXPECT_EQ(fixture_.Absent(), -1);
  hooks_.Uninstall();
}

INSTANTIATE_TEST_SUITE_P(Linkers, GotHooksOfFixture, testing::ValuesIn(FixturePaths()),
                         [](const auto& tested) {
                           std::string name = tested.param.substr(tested.param.rfind('/') + 1);
                           name = name.substr(0, name.rfind('.'));
                           return name.substr(name.find("fixture"));
                         });

TEST(GotHooks, SecondInstallAndIncompleteRequestsAreRefused) {
  GotHooks hooks;
  const HookRequest incomplete = {"poll", IsFixtureCopy, nullptr, &g_poll[0]};
  EXPECT_EQ(hooks.Install({&incomplete, 1}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(hooks.Install(Requests<0>()).ok());
  EXPECT_EQ(hooks.Install(Requests<0>()).status().code(), StatusCode::kBusy);
  hooks.Uninstall();
  EXPECT_TRUE(hooks.Install(Requests<0>()).ok());
  hooks.Uninstall();
}

bool IsThisProgram(std::string_view path) {
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program));
  return path == std::string_view(program, length > 0 ? static_cast<size_t>(length) : 0);
}

TEST(GotHooks, ProgramItselfIsKnownByItsPath) {
  GotHooks hooks;
  g_getppid[0].Set(nullptr);
  g_getppids[0] = 0;
  const HookRequest request = {"getppid", IsThisProgram, reinterpret_cast<void*>(&GetppidProxy<0>),
                               &g_getppid[0]};
  Result<HookReport> report = hooks.Install({&request, 1});
  ASSERT_TRUE(report.ok());
  EXPECT_GT(report->hooked, 0u);
  const pid_t parent = getppid();
  EXPECT_EQ(g_getppids[0], 1);
  hooks.Uninstall();
  EXPECT_EQ(getppid(), parent);
  EXPECT_EQ(g_getppids[0], 1);
}

}  // namespace
}  // namespace jankbox
