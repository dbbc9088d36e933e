#include "tracer/interpose/lock_owner.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <thread>

#include "base/file.h"
#include "base/own_thread.h"
#include "tests/emulator.h"
#include "tracer/sampling/thread_dump.h"

namespace jankbox {
namespace {

// As /proc numbers it: an emulator's is that of x86-64.
int64_t FutexCall() { return ByMachine(SYS_futex, 202); }

// Who holds what a thread that runs `wait` waits for, once it is seen in futex(2).
int32_t OwnerWhile(const std::function<void()>& wait, const std::function<void()>& let_go) {
  std::atomic<int32_t> tid{0};
  std::thread waiter([&] {
    tid = CurrentTid();
    wait();
  });
  int32_t owner = 0;
  for (int i = 0; i < 2000 && owner == 0; ++i) {
    usleep(1000);
    SystemCallLine call;
    const std::string path = "/proc/self/task/" + std::to_string(tid) + "/syscall";
    if (!ParseSystemCallLine(ReadProcFile(path, 256), &call) || call.number != FutexCall()) {
      continue;
    }
    owner = OwnerOfFutex({call.first_argument, static_cast<uint32_t>(call.second_argument),
                          static_cast<uint32_t>(call.third_argument)});
    if (i > 100 && owner == 0) break;  // it waits, and nobody is known
  }
  let_go();
  waiter.join();
  return owner;
}

int32_t OwnerOfMutexOf(int protocol, int robust, int type) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setprotocol(&attributes, protocol);
  pthread_mutexattr_setrobust(&attributes, robust);
  pthread_mutexattr_settype(&attributes, type);
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutex_lock(&mutex);
  const int32_t owner = OwnerWhile(
      [&] {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
      },
      [&] { pthread_mutex_unlock(&mutex); });
  pthread_mutex_destroy(&mutex);
  return owner;
}

TEST(LockOwner, OfEveryKindOfMutex) {
  for (const int protocol : {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT}) {
    for (const int robust : {PTHREAD_MUTEX_STALLED, PTHREAD_MUTEX_ROBUST}) {
      for (const int type : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
                             PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP}) {
        EXPECT_EQ(OwnerOfMutexOf(protocol, robust, type), CurrentTid())
            << protocol << robust << type;
      }
    }
  }
}

TEST(LockOwner, OfAWriteLock) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  for (auto* take : {pthread_rwlock_rdlock, pthread_rwlock_wrlock}) {
    pthread_rwlock_wrlock(&lock);
    EXPECT_EQ(OwnerWhile(
                  [&] {
                    take(&lock);
                    pthread_rwlock_unlock(&lock);
                  },
                  [&] { pthread_rwlock_unlock(&lock); }),
              CurrentTid());
  }
}

TEST(LockOwner, OfAJoin) {
  std::atomic<bool> over{false};
  std::atomic<int32_t> joined{0};
  pthread_t thread;
  struct State {
    std::atomic<bool>* over;
    std::atomic<int32_t>* tid;
  } state{&over, &joined};
  pthread_create(
      &thread, nullptr,
      [](void* given) -> void* {
        auto* own = static_cast<State*>(given);
        *own->tid = CurrentTid();
        while (!*own->over) usleep(1000);
        return nullptr;
      },
      &state);
  const int32_t owner = OwnerWhile([&] { pthread_join(thread, nullptr); }, [&] { over = true; });
  EXPECT_EQ(owner, joined);
}

TEST(LockOwner, OfAConditionIsNotKnown) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  bool over = false;
  EXPECT_EQ(OwnerWhile(
                [&] {
                  pthread_mutex_lock(&mutex);
                  while (!over) pthread_cond_wait(&condition, &mutex);
                  pthread_mutex_unlock(&mutex);
                },
                [&] {
                  pthread_mutex_lock(&mutex);
                  over = true;
                  pthread_cond_signal(&condition);
                  pthread_mutex_unlock(&mutex);
                }),
            0);
}

TEST(LockOwner, UnmappedMemoryHasNoOwner) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* two = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(two, MAP_FAILED);
  const uint64_t base = reinterpret_cast<uint64_t>(two);
  // A word at the end of what is mapped: the rest of its mutex is not there.
  *reinterpret_cast<uint32_t*>(base + page - 4) = 2;
  *reinterpret_cast<uint32_t*>(base) = 2;
  munmap(reinterpret_cast<void*>(base + page), page);
  EXPECT_EQ(OwnerOfFutex({base + page - 4, FUTEX_WAIT_PRIVATE, 2}), 0);
  munmap(two, page);
  for (const uint64_t address : {base, base + page, uint64_t{0}, uint64_t{4}, UINT64_MAX,
                                 UINT64_MAX - 3, uint64_t{1} << 63}) {
    for (const uint32_t operation : {FUTEX_WAIT, FUTEX_WAIT_PRIVATE, FUTEX_LOCK_PI, 12345}) {
      for (const uint32_t value : {0u, 2u, 3u, 0x80000000u}) {
        EXPECT_EQ(OwnerOfFutex({address, operation, value}), 0);
      }
    }
  }
}

}  // namespace
}  // namespace jankbox
