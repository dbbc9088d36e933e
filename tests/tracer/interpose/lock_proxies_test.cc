// What the ring says of locks that the watched thread waits for: which, whose, how long.
#include "tracer/interpose/lock_proxies.h"

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>

#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "base/clock.h"
#include "tests/tracer/interpose/interpose_test.h"
#include "tracer/clock/tick_clock.h"
#include "tracer/interpose/lock_state.h"

namespace jankbox {
namespace {

using LockFn = int(pthread_mutex_t*);
constexpr uint64_t kPlantedNs = 60 * kNsPerMs;

bool Sleeps(int tid) {
  std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/stat");
  const std::string stat((std::istreambuf_iterator<char>(file)), {});
  const size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.compare(name_end, 3, ") S") == 0;
}

// A thread that holds something until another thread has slept for a while because of it.
class Holder {
 public:
  template <typename Take, typename Give>
  Holder(Take take, Give give)
      : thread_([this, take, give] {
          tid_ = CurrentTid();
          take();
          held_ = true;
          while (waiter_ == 0 || !Sleeps(waiter_)) usleep(200);
          const uint64_t release_at_ns = MonotonicNs() + kPlantedNs;
          while (MonotonicNs() < release_at_ns) usleep(200);
          give();
        }) {
    while (!held_) usleep(100);
  }
  ~Holder() { thread_.join(); }

  // Releases it when the calling thread has waited for kPlantedNs.
  void ReleaseToCaller() { waiter_ = CurrentTid(); }
  int tid() const { return tid_; }

 private:
  std::atomic<int> tid_{0};
  std::atomic<bool> held_{false};
  std::atomic<int> waiter_{0};
  std::thread thread_;
};

class LockProxiesTest : public SourceTest {
 protected:
  // Waits 60 ms for what `holder` holds by `call`; the one wait that is in the ring, checked.
  template <typename Call>
  RecordedWait WaitFor(Holder* holder, Call call) {
    holder->ReleaseToCaller();
    const uint64_t begin_ns = MonotonicNs();
    EXPECT_EQ(call(), 0);
    const double measured_ns = static_cast<double>(MonotonicNs() - begin_ns);
    const std::vector<RecordedWait> waits = Waits(Window(), CurrentTid());
    EXPECT_EQ(waits.size(), 1u);
    if (waits.size() != 1) return {};
    const double ns_per_tick = MeasureNsPerTick(ChooseTickSource(), 20);
    const double recorded_ns =
        static_cast<double>(waits[0].end_ticks - waits[0].begin_ticks) * ns_per_tick;
    EXPECT_GE(recorded_ns, 0.95 * static_cast<double>(kPlantedNs));
    EXPECT_LE(recorded_ns, 1.05 * measured_ns);
    EXPECT_EQ(waits[0].end.result, 0);
    return waits[0];
  }
};

TEST_F(LockProxiesTest, MutexesOfEveryKindNameTheirOwner) {
  for (const int type : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                         PTHREAD_MUTEX_ADAPTIVE_NP}) {
    for (const int protocol : {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT}) {
      for (const int robust : {PTHREAD_MUTEX_STALLED, PTHREAD_MUTEX_ROBUST}) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, type);
        pthread_mutexattr_setprotocol(&attributes, protocol);
        pthread_mutexattr_setrobust(&attributes, robust);
        pthread_mutex_t mutex;
        ASSERT_EQ(pthread_mutex_init(&mutex, &attributes), 0);
        Recorder::Close();
        OpenRing(4 << 20);
        Holder holder([&] { pthread_mutex_lock(&mutex); }, [&] { pthread_mutex_unlock(&mutex); });
        auto* lock = Proxy<LockFn>(HookId::kMutexLock);
        const RecordedWait wait = WaitFor(&holder, [&] { return lock(&mutex); });
        EXPECT_EQ(wait.begin.what, WaitClass::kMutex);
        EXPECT_EQ(wait.begin.owner_tid, holder.tid()) << type << ' ' << protocol << ' ' << robust;
        EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
      }
    }
  }
}

TEST_F(LockProxiesTest, WriterOfAReadWriteLockIsItsOwner) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  Holder writer([&] { pthread_rwlock_wrlock(&lock); }, [&] { pthread_rwlock_unlock(&lock); });
  auto* read = Proxy<int(pthread_rwlock_t*)>(HookId::kRwlockRdlock);
  const RecordedWait wait = WaitFor(&writer, [&] { return read(&lock); });
  EXPECT_EQ(wait.begin.what, WaitClass::kReadLock);
  EXPECT_EQ(wait.begin.owner_tid, writer.tid());
  EXPECT_EQ(read(&lock), 0);  // beside itself: no wait
  EXPECT_EQ(Waits(Window(), CurrentTid()).size(), 1u);
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_unlock(&lock);
}

TEST_F(LockProxiesTest, ReadersOfAReadWriteLockAreMany) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  Holder reader([&] { pthread_rwlock_rdlock(&lock); }, [&] { pthread_rwlock_unlock(&lock); });
  auto* write = Proxy<int(pthread_rwlock_t*)>(HookId::kRwlockWrlock);
  const RecordedWait wait = WaitFor(&reader, [&] { return write(&lock); });
  EXPECT_EQ(wait.begin.what, WaitClass::kWriteLock);
  EXPECT_EQ(wait.begin.owner_tid, 0);
  pthread_rwlock_unlock(&lock);
}

TEST_F(LockProxiesTest, SemaphoreIsWaitedFor) {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  Holder poster([] {}, [&] { sem_post(&semaphore); });
  auto* take = Proxy<int(sem_t*)>(HookId::kSemWait);
  EXPECT_EQ(WaitFor(&poster, [&] { return take(&semaphore); }).begin.what, WaitClass::kSemaphore);
}

TEST_F(LockProxiesTest, ConditionIsWaitedFor) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  Holder notifier([] {},
                  [&] {
                    pthread_mutex_lock(&mutex);
                    pthread_cond_signal(&condition);
                    pthread_mutex_unlock(&mutex);
                  });
  auto* wait = Proxy<int(pthread_cond_t*, pthread_mutex_t*)>(HookId::kCondWait);
  pthread_mutex_lock(&mutex);
  EXPECT_EQ(WaitFor(&notifier, [&] { return wait(&condition, &mutex); }).begin.what,
            WaitClass::kCondition);
  pthread_mutex_unlock(&mutex);
}

TEST_F(LockProxiesTest, ThreadIsWaitedFor) {
  std::atomic<int> tid{0};
  pthread_t sleeper;
  ASSERT_EQ(pthread_create(
                &sleeper, nullptr,
                [](void* told) -> void* {
                  *static_cast<std::atomic<int>*>(told) = CurrentTid();
                  usleep(500'000);
                  return nullptr;
                },
                &tid),
            0);
  while (tid == 0) usleep(100);
  EXPECT_EQ(Proxy<int(pthread_t, void**)>(HookId::kPthreadJoin)(sleeper, nullptr), 0);
  const std::vector<RecordedWait> joins = Waits(Window(), CurrentTid());
  ASSERT_EQ(joins.size(), 1u);
  EXPECT_EQ(joins[0].begin.what, WaitClass::kJoin);
  EXPECT_EQ(joins[0].begin.owner_tid, tid);
}

TEST_F(LockProxiesTest, FutexIsWaitedFor) {
  std::atomic<uint32_t> word{0};
  Holder waker([] {},
               [&] {
                 word = 1;
                 syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
               });
  auto* call = Proxy<long(long, ...)>(HookId::kSyscall);
  EXPECT_EQ(
      WaitFor(&waker,
              [&] { return call(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0); })
          .begin.what,
      WaitClass::kFutex);
  EXPECT_EQ(call(SYS_getpid), getpid());
  EXPECT_EQ(RunCall([&] { return call(SYS_close, -1); }), (Outcome{-1, EBADF}));
  EXPECT_EQ(Waits(Window(), CurrentTid()).size(), 1u);
}

TEST_F(LockProxiesTest, FutexThatOnlyALockUsesIsALock) {
  std::atomic<uint32_t> word{0};
  Holder holder([&] { syscall(SYS_futex, &word, FUTEX_LOCK_PI_PRIVATE, 0, nullptr); },
                [&] { syscall(SYS_futex, &word, FUTEX_UNLOCK_PI_PRIVATE); });
  auto* call = Proxy<long(long, ...)>(HookId::kSyscall);
  EXPECT_EQ(
      WaitFor(&holder, [&] { return call(SYS_futex, &word, FUTEX_LOCK_PI_PRIVATE, 0, nullptr); })
          .begin.what,
      WaitClass::kMutex);
#if defined(SYS_futex_waitv)
  // Six futexes are no FUTEX_LOCK_PI.
  EXPECT_EQ(RunCall([&] { return call(SYS_futex_waitv, nullptr, 6, 0, nullptr, 0); }).result, -1);
  const std::vector<RecordedWait> waits = Waits(Window(), CurrentTid());
  ASSERT_FALSE(waits.empty());
  EXPECT_EQ(waits.back().begin.what, WaitClass::kFutex);
#endif
}

TEST_F(LockProxiesTest, FreeLocksRecordNothing) {
  auto* lock = Proxy<LockFn>(HookId::kMutexLock);
  pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
  sem_t semaphore;
  sem_init(&semaphore, 0, 100);
  constexpr int kDepth = 30;  // TSan follows no more than 64
  for (int i = 0; i < kDepth; ++i) {
    EXPECT_EQ(lock(&plain), 0);
    EXPECT_EQ(pthread_mutex_unlock(&plain), 0);
    EXPECT_EQ(lock(&recursive), 0);  // deeper each time
    EXPECT_EQ(Proxy<int(pthread_rwlock_t*)>(HookId::kRwlockRdlock)(&shared), 0);
    EXPECT_EQ(Proxy<int(sem_t*)>(HookId::kSemWait)(&semaphore), 0);
  }
  EXPECT_TRUE(Waits(Window(), CurrentTid()).empty());
  for (int i = 0; i < kDepth; ++i) EXPECT_EQ(pthread_mutex_unlock(&recursive), 0);
}

TEST_F(LockProxiesTest, TimeoutsAreReported) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  Holder holder([&] { pthread_mutex_lock(&mutex); }, [&] { pthread_mutex_unlock(&mutex); });
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  EXPECT_EQ(Proxy<int(pthread_mutex_t*, const timespec*)>(HookId::kMutexTimedlock)(&mutex, &until),
            ETIMEDOUT);
  holder.ReleaseToCaller();
  const std::vector<RecordedWait> waits = Waits(Window(), CurrentTid());
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].end.result, -ETIMEDOUT);
}

TEST(LockState, TidOfAThreadIsTheKernels) {
  std::atomic<int> tid{0};
  std::atomic<bool> done{false};
  std::thread thread([&] {
    tid = CurrentTid();
    while (!done) usleep(100);
  });
  while (tid == 0) usleep(100);
  EXPECT_EQ(TidOfThread(thread.native_handle()), tid);
  EXPECT_EQ(TidOfThread(pthread_self()), CurrentTid());
  done = true;
  while (syscall(SYS_tgkill, getpid(), tid.load(), 0) == 0) usleep(100);
  EXPECT_EQ(TidOfThread(thread.native_handle()), 0);
  thread.join();
}

}  // namespace
}  // namespace jankbox
