// Proxies where it hurts: in signal handlers at 10 kHz, in children of a fork, behind the thread's
// last breath.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/clock.h"
#include "tests/tracer/interpose/interpose_test.h"
#include "tracer/interpose/thread_recorder.h"

namespace jankbox {
namespace {

using LockFn = int(pthread_mutex_t*);
using ReadFn = ssize_t(int, void*, size_t);
using CreateFn = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

ReadFn* g_read;
std::atomic<uint64_t> g_handled{0};
std::atomic<bool> g_errno_changed{false};

void ReadInHandler(int) {
  const int saved_errno = errno;
  char byte;
  errno = 1234;
  if (g_read(-1, &byte, 1) != -1 || errno != EBADF) g_errno_changed = true;
  g_handled.fetch_add(1, std::memory_order_relaxed);
  errno = saved_errno;
}

class ProxySafetyTest : public SourceTest {};

TEST_F(ProxySafetyTest, HandlersMayCallProxiesInsideProxies) {
  g_read = Proxy<ReadFn>(HookId::kRead);
  auto* take = Proxy<int(sem_t*, const timespec*)>(HookId::kSemTimedwait);
  struct sigaction action = {}, before = {};
  action.sa_handler = ReadInHandler;
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGRTMIN + 3, &action, &before), 0);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGRTMIN + 3;
  event._sigev_un._tid = CurrentTid();
  timer_t timer;
  ASSERT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  const itimerspec every{{0, 100'000}, {0, 100'000}};
  ASSERT_EQ(timer_settime(timer, 0, &every, nullptr), 0);
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  const int null = open("/dev/null", O_RDONLY);
  char byte;
  const timespec past{1, 0};
  const uint64_t until = MonotonicNs() + 2 * kNsPerSecond;
  while (MonotonicNs() < until) {
    ASSERT_EQ(g_read(null, &byte, 1), 0);
    ASSERT_EQ(take(&semaphore, &past), -1);
  }
  timer_delete(timer);
  sigaction(SIGRTMIN + 3, &before, nullptr);
  close(null);
  EXPECT_GT(g_handled.load(), 1'000u);
  EXPECT_FALSE(g_errno_changed);
  // Every end found its start (Waits() checks), what did not fit or came in between was counted or
  // passed on.
  const RingWindow window = Window();
  for (const WindowThread& thread : window.threads) {
    if (thread.tid == CurrentTid()) {
      EXPECT_GT(thread.markers.size(), 0u);
    }
  }
}

TEST_F(ProxySafetyTest, ChildrenOfAForkPassOnAndRecordNothing) {
  auto* lock = Proxy<LockFn>(HookId::kMutexLock);
  auto* read = Proxy<ReadFn>(HookId::kRead);
  auto* create = Proxy<CreateFn>(HookId::kPthreadCreate);
  ThreadRecorder::Prepare();
  std::atomic<bool> stop{false};
  std::thread churn([&] {
    while (!stop) {
      pthread_t thread;
      if (create(
              &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr) == 0) {
        pthread_join(thread, nullptr);
      }
    }
  });
  for (int i = 0; i < 200; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(5);  // a deadlock ends the child, not the test
      pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
      char byte;
      bool good = lock(&mutex) == 0;
      errno = 0;
      good = good && read(-1, &byte, 1) == -1 && errno == EBADF;
      _exit(good ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  churn.join();
  EXPECT_TRUE(Waits(Window(), CurrentTid()).empty());
}

// A destructor of thread storage that runs after ours still reads through the proxy.
TEST_F(ProxySafetyTest, CallsAfterAThreadsEndAreHarmless) {
  g_read = Proxy<ReadFn>(HookId::kRead);
  pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key,
                               [](void*) {
                                 char byte;
                                 errno = 0;
                                 if (g_read(-1, &byte, 1) != -1 || errno != EBADF)
                                   g_errno_changed = true;
                               }),
            0);
  for (int i = 0; i < 50; ++i) {
    std::thread([&] {
      WatchThisThread();
      char byte;
      g_read(-1, &byte, 1);
      pthread_setspecific(key, &key);
    }).join();
  }
  EXPECT_FALSE(g_errno_changed);
  pthread_key_delete(key);
  const std::vector<RecordedWait> waits = Waits(Window(), 0);
  EXPECT_GT(waits.size(), 2u);  // each thread takes a chunk for each of its two lives
  for (const RecordedWait& wait : waits) EXPECT_EQ(wait.end.result, -EBADF);
  EXPECT_EQ(CursorsTaken(), 0u);
}

}  // namespace
}  // namespace jankbox
