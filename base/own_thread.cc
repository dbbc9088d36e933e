#include "base/own_thread.h"

#include <utility>

#include "base/files/fd_table.h"
#include "base/memory/memory_reserve.h"
#include "base/thread_value.h"

namespace jankbox {
namespace {

JANKBOX_THREAD_VALUE(OwnThread*, t_own_thread, nullptr);

// A new thread that takes no signal. Where there is an attribute for that, the calling thread's
// mask need not be changed and changed back.
bool Create(pthread_t* thread, void* (*run)(void*), void* argument) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
  sigset_t all;
  sigfillset(&all);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  const bool created = pthread_attr_setsigmask_np(&attributes, &all) == 0 &&
                       pthread_create(thread, &attributes, run, argument) == 0;
  pthread_attr_destroy(&attributes);
  return created;
#else
  const ScopedSignalBlock no_signals;
  return pthread_create(thread, nullptr, run, argument) == 0;
#endif
}

}  // namespace

bool OwnThread::Start(std::function<void()> run) {
  run_ = std::move(run);
  fd_table_ = FdTable::OfThisThread();
  {
    MutexLock lock(&mutex_);
    ended_ = stands_still_ = false;
  }
  memory_reserve::OnUsedUp(StandStill);
  running_ = Create(&thread_, Run, this);
  return running_;
}

void* OwnThread::Run(void* self) {
  auto* thread = static_cast<OwnThread*>(self);
  t_own_thread = thread;
  FdTable::Inherit(thread->fd_table_);
  thread->run_();
  MutexLock lock(&thread->mutex_);
  thread->ended_ = true;
  thread->changed_.NotifyAll();
  return nullptr;
}

// What it has locked stays locked. Returns where the thread is the app's.
void OwnThread::StandStill() {
  OwnThread* thread = t_own_thread;
  if (thread == nullptr) return;
  {
    MutexLock lock(&thread->mutex_);
    thread->stands_still_ = true;
    thread->changed_.NotifyAll();
  }
  for (;;) pause();
}

bool OwnThread::Join(uint64_t deadline_ns) {
  if (!std::exchange(running_, false)) return true;
  bool ended = false;
  {
    MutexLock lock(&mutex_);
    while (!ended_ && !stands_still_) {
      if (!changed_.WaitUntil(&mutex_, deadline_ns) && MonotonicNs() >= deadline_ns) break;
    }
    ended = ended_;
  }
  if (ended) {
    pthread_join(thread_, nullptr);
  } else {
    pthread_detach(thread_);
  }
  return ended;
}

}  // namespace jankbox
