// Every kind of mutex in every state that a call can meet it in, and the other locks: a proxy gives
// what the C library gives, leaves the lock as that leaves it, and errno alone.
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include <thread>

#include "base/clock.h"
#include "tests/tracer/interpose/interpose_test.h"

namespace jankbox {
namespace {

using LockFn = int(pthread_mutex_t*);
using TimedLockFn = int(pthread_mutex_t*, const timespec*);
using ClockLockFn = int(pthread_mutex_t*, clockid_t, const timespec*);

timespec In(int64_t ms, clockid_t clock = CLOCK_REALTIME) {
  timespec now{};
  clock_gettime(clock, &now);
  const int64_t ns = now.tv_sec * 1'000'000'000 + now.tv_nsec + ms * 1'000'000;
  return {ns / 1'000'000'000, ns % 1'000'000'000};
}

struct MutexKind {
  int type;
  int robust;
  int protocol;
  int shared;
};

enum class MutexState { kFree, kMine, kAnothers, kOwnerDied, kNotRecoverable };

// A mutex of `kind` brought into `state`, and what is left of it afterwards.
class TestMutex {
 public:
  TestMutex(const MutexKind& kind, MutexState state) : state_(state) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind.type);
    pthread_mutexattr_setrobust(&attributes, kind.robust);
    pthread_mutexattr_setprotocol(&attributes, kind.protocol);
    pthread_mutexattr_setpshared(&attributes, kind.shared);
    usable_ = pthread_mutex_init(&mutex_, &attributes) == 0;
    pthread_mutexattr_destroy(&attributes);
    if (usable_) usable_ = Enter(kind);
  }
  ~TestMutex() {
    release_ = true;
    if (holder_.joinable()) holder_.join();
  }

  bool usable() const { return usable_; }
  pthread_mutex_t* get() { return &mutex_; }

  // What each unlock gives for as long as this thread holds it.
  std::string Unlocks() {
    std::string results;
    while (mutex_.__data.__owner == CurrentTid()) {
      results += std::to_string(pthread_mutex_unlock(&mutex_)) + ' ';
    }
    return results;
  }

 private:
  bool Enter(const MutexKind& kind) {
    switch (state_) {
      case MutexState::kFree:
        return true;
      case MutexState::kMine:
        return pthread_mutex_lock(&mutex_) == 0;
      case MutexState::kAnothers:
        holder_ = std::thread([this] {
          pthread_mutex_lock(&mutex_);
          held_ = true;
          while (!release_) usleep(500);
          pthread_mutex_unlock(&mutex_);
        });
        while (!held_) usleep(100);
        return true;
      case MutexState::kOwnerDied:
      case MutexState::kNotRecoverable:
        if (kind.robust != PTHREAD_MUTEX_ROBUST) return false;
        std::thread([this] { pthread_mutex_lock(&mutex_); }).join();
        if (state_ == MutexState::kOwnerDied) return true;
        return pthread_mutex_lock(&mutex_) == EOWNERDEAD && pthread_mutex_unlock(&mutex_) == 0;
    }
    return false;
  }

  pthread_mutex_t mutex_;
  const MutexState state_;
  bool usable_ = false;
  std::thread holder_;
  std::atomic<bool> held_{false};
  std::atomic<bool> release_{false};
};

class LockDifferentialTest : public SourceTest {
 protected:
  LockDifferentialTest() {
    // The C library learns what priorities there are at a process's first mutex with a ceiling.
    TestMutex({PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_PROTECT,
               PTHREAD_PROCESS_PRIVATE},
              MutexState::kMine)
        .Unlocks();
  }

  // Runs `call(function, mutex)` twice, each on a mutex of its own.
  template <typename Function, typename Call>
  void Compare(HookId id, const MutexKind& kind, MutexState state, Call call) {
    Outcome outcomes[2];
    std::string left[2];
    for (const bool proxied : {false, true}) {
      TestMutex mutex(kind, state);
      if (!mutex.usable()) return;
      auto* function = proxied ? Proxy<Function>(id) : Real<Function>(id);
      outcomes[proxied ? 1 : 0] = RunCall([&] { return call(function, mutex.get()); });
      left[proxied ? 1 : 0] = mutex.Unlocks();
    }
    EXPECT_EQ(outcomes[1], outcomes[0]) << Describe(id, kind, state);
    EXPECT_EQ(left[1], left[0]) << Describe(id, kind, state);
    EXPECT_EQ(outcomes[1].error, kUntouchedErrno);
    ++cases_;
    if (outcomes[0].result != 0) ++errors_;
  }
  static std::string Describe(HookId id, const MutexKind& kind, MutexState state) {
    return std::string(SymbolOf(id)) + " type " + std::to_string(kind.type) + " robust " +
           std::to_string(kind.robust) + " protocol " + std::to_string(kind.protocol) + " shared " +
           std::to_string(kind.shared) + " state " + std::to_string(static_cast<int>(state));
  }
  void CompareTimed(const MutexKind& kind, MutexState state, const timespec& until) {
    Compare<TimedLockFn>(HookId::kMutexTimedlock, kind, state,
                         [&](auto* call, auto* mutex) { return call(mutex, &until); });
    Compare<ClockLockFn>(HookId::kMutexClocklock, kind, state, [&](auto* call, auto* mutex) {
      return call(mutex, CLOCK_REALTIME, &until);
    });
  }
  void CompareAll(const MutexKind& kind, MutexState state) {
    const bool self_checks =
        kind.type == PTHREAD_MUTEX_RECURSIVE || kind.type == PTHREAD_MUTEX_ERRORCHECK;
    const bool returns =
        state != MutexState::kAnothers && (state != MutexState::kMine || self_checks);
    if (returns) {
      Compare<LockFn>(HookId::kMutexLock, kind, state,
                      [](auto* call, auto* mutex) { return call(mutex); });
    }
    CompareTimed(kind, state, In(2));
    CompareTimed(kind, state, In(-1'000));
    CompareTimed(kind, state, {-1, 0});
    CompareTimed(kind, state, {0, -1});
    CompareTimed(kind, state, {INT32_MAX, 1'000'000'000});
    Compare<ClockLockFn>(HookId::kMutexClocklock, kind, state, [&](auto* call, auto* mutex) {
      const timespec until = In(2, CLOCK_MONOTONIC);
      return call(mutex, CLOCK_MONOTONIC, &until);
    });
    Compare<ClockLockFn>(HookId::kMutexClocklock, kind, state, [&](auto* call, auto* mutex) {
      const timespec until = In(2);
      return call(mutex, CLOCK_PROCESS_CPUTIME_ID, &until);
    });
  }

  int cases_ = 0;
  int errors_ = 0;
};

TEST_F(LockDifferentialTest, MutexesOfAllKindsFreeAndLocked) {
  for (const int type : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                         PTHREAD_MUTEX_ADAPTIVE_NP}) {
    for (const int robust : {PTHREAD_MUTEX_STALLED, PTHREAD_MUTEX_ROBUST}) {
      for (const int protocol : {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT, PTHREAD_PRIO_PROTECT}) {
        for (const int shared : {PTHREAD_PROCESS_PRIVATE, PTHREAD_PROCESS_SHARED}) {
          for (const MutexState state :
               {MutexState::kFree, MutexState::kMine, MutexState::kAnothers}) {
            CompareAll({type, robust, protocol, shared}, state);
          }
        }
      }
    }
  }
  EXPECT_GE(cases_, 1'000);
  EXPECT_GE(errors_, 500);
}

TEST_F(LockDifferentialTest, MutexesWhoseOwnerDied) {
  for (const int type : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                         PTHREAD_MUTEX_ADAPTIVE_NP}) {
    for (const int protocol : {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT, PTHREAD_PRIO_PROTECT}) {
      for (const int shared : {PTHREAD_PROCESS_PRIVATE, PTHREAD_PROCESS_SHARED}) {
        for (const MutexState state : {MutexState::kOwnerDied, MutexState::kNotRecoverable}) {
          CompareAll({type, PTHREAD_MUTEX_ROBUST, protocol, shared}, state);
        }
      }
    }
  }
  EXPECT_GE(cases_, 300);
  EXPECT_GE(errors_, 200);
}

TEST_F(LockDifferentialTest, ReadWriteLocks) {
  using RwFn = int(pthread_rwlock_t*);
  using TimedRwFn = int(pthread_rwlock_t*, const timespec*);
  enum { kFree, kRead, kWritten, kReadByAnother, kWrittenByAnother };
  const auto run = [&](bool proxied, int state, auto call) {
    pthread_rwlock_t lock;
    EXPECT_EQ(pthread_rwlock_init(&lock, nullptr), 0);
    if (state == kRead) pthread_rwlock_rdlock(&lock);
    if (state == kWritten) pthread_rwlock_wrlock(&lock);
    // Nobody unlocks for a thread that ended: held for good.
    if (state == kReadByAnother) std::thread([&] { pthread_rwlock_rdlock(&lock); }).join();
    if (state == kWrittenByAnother) std::thread([&] { pthread_rwlock_wrlock(&lock); }).join();
    const Outcome outcome = RunCall([&] { return call(proxied, &lock); });
    return std::to_string(outcome.result) + ' ' + std::to_string(outcome.error) + ' ' +
           std::to_string(pthread_rwlock_trywrlock(&lock)) + ' ' +
           std::to_string(pthread_rwlock_tryrdlock(&lock));
  };
  int cases = 0;
  for (const int state : {kFree, kRead, kWritten, kReadByAnother, kWrittenByAnother}) {
    for (const HookId id : {HookId::kRwlockTimedrdlock, HookId::kRwlockTimedwrlock}) {
      for (const timespec& until : {In(2), In(-1'000), timespec{0, -1}}) {
        const auto call = [&](bool proxied, pthread_rwlock_t* lock) {
          return (proxied ? Proxy<TimedRwFn>(id) : Real<TimedRwFn>(id))(lock, &until);
        };
        EXPECT_EQ(run(true, state, call), run(false, state, call)) << state;
        ++cases;
      }
    }
    for (const HookId id : {HookId::kRwlockRdlock, HookId::kRwlockWrlock}) {
      if (state >= kReadByAnother) continue;                        // waits for good
      if (id == HookId::kRwlockWrlock && state == kRead) continue;  // for itself
      const auto call = [&](bool proxied, pthread_rwlock_t* lock) {
        return (proxied ? Proxy<RwFn>(id) : Real<RwFn>(id))(lock);
      };
      EXPECT_EQ(run(true, state, call), run(false, state, call)) << state;
      ++cases;
    }
  }
  EXPECT_GE(cases, 35);
}

TEST_F(LockDifferentialTest, ConditionsAndSemaphoresTimeOutAlike) {
  using CondFn = int(pthread_cond_t*, pthread_mutex_t*, const timespec*);
  using SemFn = int(sem_t*, const timespec*);
  for (const timespec& until : {In(2), In(-1'000), timespec{0, -1}, timespec{1, 1'000'000'000}}) {
    for (const unsigned value : {0u, 1u}) {
      std::string told[2];
      for (const bool proxied : {false, true}) {
        sem_t semaphore;
        sem_init(&semaphore, 0, value);
        auto* wait =
            proxied ? Proxy<SemFn>(HookId::kSemTimedwait) : Real<SemFn>(HookId::kSemTimedwait);
        const Outcome outcome = RunCall([&] { return wait(&semaphore, &until); });
        int left = 0;
        sem_getvalue(&semaphore, &left);
        told[proxied ? 1 : 0] = std::to_string(outcome.result) + ' ' +
                                std::to_string(outcome.error) + ' ' + std::to_string(left);
      }
      EXPECT_EQ(told[1], told[0]);
    }
    Outcome outcomes[2];
    for (const bool proxied : {false, true}) {
      pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
      pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
      pthread_mutex_lock(&mutex);
      auto* wait =
          proxied ? Proxy<CondFn>(HookId::kCondTimedwait) : Real<CondFn>(HookId::kCondTimedwait);
      outcomes[proxied ? 1 : 0] = RunCall([&] { return wait(&condition, &mutex, &until); });
      EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);  // it is ours again
    }
    EXPECT_EQ(outcomes[1], outcomes[0]);
  }
}

}  // namespace
}  // namespace jankbox
