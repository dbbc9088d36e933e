// H5: signals that arrive anywhere inside a proxy, and whose handler makes the same call.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include <atomic>
#include <thread>

#include "base/own_thread.h"
#include "base/scoped_fd.h"
#include "tests/tracer/hook/fixture.h"
#include "tests/tracer/hook/storm_time.h"
#include "tracer/hook/got_hooks.h"
#include "tracer/hook/reentry_guard.h"

namespace jankbox {
namespace {

constexpr int kCallers = 2;
constexpr long kPeriodNs = 100'000;  // 10 kHz, shared by the callers
const int kSignal = SIGRTMIN + 3;

OriginalFunction g_write;
std::atomic<uint64_t> g_bodies, g_straight, g_signals, g_wrong;
std::atomic<const Fixture*> g_fixture;
std::atomic<int> g_null_fd;
__attribute__((tls_model("initial-exec"))) thread_local constinit int t_depth = 0;
__attribute__((tls_model("initial-exec"))) thread_local constinit int t_signals_in_body = 0;
std::atomic<uint64_t> g_signals_in_body;

// What a feature's proxy does besides calling on: long enough for signals to hit it.
void Body() {
  if (++t_depth != 1) ++g_wrong;
  for (int i = 0; i < 50; ++i) g_bodies.fetch_add(i == 0 ? 1 : 0, std::memory_order_relaxed);
  errno = EPROTO;
  --t_depth;
}

ssize_t WriteProxy(int fd, const void* bytes, size_t count) {
  auto* real = g_write.Get<decltype(::write)>();
  {
    ReentryGuard guard(HookFeature::kIo);
    if (guard.entered()) {
      Body();
    } else {
      g_straight.fetch_add(1, std::memory_order_relaxed);
    }
  }
  return real(fd, bytes, count);
}

void OnSignal(int) {
  const int saved = errno;
  if (t_depth != 0) ++t_signals_in_body;
  errno = 1234;
  if (g_fixture.load()->Write(g_null_fd, "x", 1) != 1 || errno != 1234) ++g_wrong;
  g_signals.fetch_add(1, std::memory_order_relaxed);
  errno = saved;
}

// Writes until the time is over, under a timer of its own.
void CallUnderSignals(const Fixture& fixture, std::chrono::steady_clock::time_point end,
                      std::atomic<uint64_t>* calls) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kSignal;
  event._sigev_un._tid = CurrentTid();
  timer_t timer;
  ASSERT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  const itimerspec period = {{0, kPeriodNs * kCallers}, {0, kPeriodNs * kCallers}};
  ASSERT_EQ(timer_settime(timer, 0, &period, nullptr), 0);
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 100; ++i) {
      errno = i;
      if (fixture.Write(g_null_fd, "abc", 3) != 3 || errno != i) ++g_wrong;
      if (fixture.Write(-1, "abc", 3) != -1 || errno != EBADF) ++g_wrong;
      *calls += 2;
    }
  }
  timer_delete(timer);
  g_signals_in_body += t_signals_in_body;
}

TEST(HookSignals, H5HandlerThatWritesInsideTheProxyGoesStraightToTheOriginal) {
  FixtureFolder folder;
  Fixture fixture(folder.Copy(FixturePaths()[0], "signals"));
  const ScopedFd null_fd(open("/dev/null", O_WRONLY | O_CLOEXEC));
  g_null_fd = null_fd.get();
  g_fixture = &fixture;
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  struct sigaction before;
  ASSERT_EQ(sigaction(kSignal, &action, &before), 0);
  const HookRequest request = {"write", IsFixtureCopy, reinterpret_cast<void*>(&WriteProxy),
                               &g_write};
  GotHooks hooks;
  ASSERT_TRUE(hooks.Install({&request, 1}).ok());

  const auto end = std::chrono::steady_clock::now() + StormTime();
  std::atomic<uint64_t> calls{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&] { CallUnderSignals(fixture, end, &calls); });
  }
  while (std::chrono::steady_clock::now() < end) {
    hooks.Refresh();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  for (std::thread& caller : callers) caller.join();
  hooks.Uninstall();
  sigaction(kSignal, &before, nullptr);
  EXPECT_EQ(g_wrong.load(), 0u);
  EXPECT_EQ(g_bodies + g_straight, calls + g_signals);
  EXPECT_GE(g_straight.load(), g_signals_in_body.load());  // the guard holds a little longer
  EXPECT_GT(g_signals_in_body.load(), 0u) << "no signal ever hit a body";
  EXPECT_GT(g_signals.load(), 1000u);
  RecordProperty("signals", static_cast<int>(g_signals.load()));
  RecordProperty("signals_inside_a_body", static_cast<int>(g_signals_in_body.load()));
  printf("%llu calls, %llu signals, %llu of them inside a body\n",
         static_cast<unsigned long long>(calls.load()),
         static_cast<unsigned long long>(g_signals.load()),
         static_cast<unsigned long long>(g_signals_in_body.load()));
}

}  // namespace
}  // namespace jankbox
