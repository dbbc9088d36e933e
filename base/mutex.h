// The locks of the product: pthread's, with the attributes that let clang check who owns them.
// tools/checks/check_mutexes rejects std::mutex elsewhere, which clang cannot check. THREAD-SAFE;
// never taken on a HOT path. FORK: as pthread's, a child must not use a lock that another thread of
// the parent may have owned.
#ifndef JANKBOX_BASE_MUTEX_H_
#define JANKBOX_BASE_MUTEX_H_

#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "base/clock.h"
#include "base/thread_annotations.h"

namespace jankbox {

// Not recursive. Needs no destructor, so a static one outlives every thread.
class CAPABILITY("mutex") Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ACQUIRE() { pthread_mutex_lock(&mutex_); }
  void Unlock() RELEASE() { pthread_mutex_unlock(&mutex_); }
  // For code that clang cannot follow, as a lambda that runs under the lock. Checks nothing.
  void AssertOwned() const ASSERT_CAPABILITY(this) {}

 private:
  friend class CondVar;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

// Owns a mutex for the length of a block.
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_->Lock(); }
  ~MutexLock() RELEASE() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

// Waits wake up spuriously too: callers check their condition in a loop.
class CondVar {
 public:
  CondVar() {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&condition_, &monotonic);
    pthread_condattr_destroy(&monotonic);
  }
  ~CondVar() { pthread_cond_destroy(&condition_); }
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  void Wait(Mutex* mutex) REQUIRES(mutex) { pthread_cond_wait(&condition_, &mutex->mutex_); }

  // Waits until `deadline_ns` of CLOCK_MONOTONIC at most; false once that has passed.
  bool WaitUntil(Mutex* mutex, uint64_t deadline_ns) REQUIRES(mutex) {
    // A time_t of 32 bits; later moments are as good as never.
    constexpr uint64_t kLatestSecond = INT32_MAX;
    const uint64_t seconds = deadline_ns / kNsPerSecond;
    const timespec deadline = {
        static_cast<time_t>(seconds < kLatestSecond ? seconds : kLatestSecond),
        static_cast<long>(deadline_ns % kNsPerSecond)};
    return pthread_cond_timedwait(&condition_, &mutex->mutex_, &deadline) == 0;
  }

  void NotifyOne() { pthread_cond_signal(&condition_); }
  void NotifyAll() { pthread_cond_broadcast(&condition_); }

 private:
  pthread_cond_t condition_;
};

// What `make` returned first, never destroyed: T is made by its first user, or by several at the
// same time, of which one wins. FORK: unlike a function's static variable, whose guard stays locked
// for good in a child that was forked while another thread of its parent initialised it.
template <typename Make>
auto& MakeOnce(Make make) {
  static_assert(std::is_empty_v<Make>, "a lambda: each has a type, and a T, of its own");
  using Made = std::remove_pointer_t<decltype(make())>;
  static constinit std::atomic<Made*> made{nullptr};
  Made* first = made.load(std::memory_order_acquire);
  if (first != nullptr) return *first;
  Made* fresh = make();
  if (made.compare_exchange_strong(first, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;
  return *first;
}

// What `Ask` said first. NO-ALLOC; FORK: as MakeOnce().
template <bool (*Ask)()>
bool AskOnce() {
  enum { kNotAsked, kYes, kNo };
  static constinit std::atomic<int> answer{kNotAsked};
  int known = answer.load(std::memory_order_relaxed);
  if (known == kNotAsked) {
    known = Ask() ? kYes : kNo;
    answer.store(known, std::memory_order_relaxed);
  }
  return known == kYes;
}

}  // namespace jankbox

#endif  // JANKBOX_BASE_MUTEX_H_
