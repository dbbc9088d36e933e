#include "base/own_thread.h"

#include <utility>

#include "base/files/fd_table.h"
#include "base/memory/memory_reserve.h"
#include "base/thread_value.h"

namespace jankbox {
namespace {

JANKBOX_THREAD_VALUE(OwnThread*, t_own_thread, nullptr);

}  // namespace

bool OwnThread::Start(std::function<void()> run) {
  run_ = std::move(run);
  fd_table_ = FdTable::OfThisThread();
  {
    MutexLock lock(&mutex_);
    ended_ = stands_still_ = false;
  }
  memory_reserve::OnUsedUp(StandStill);
  const ScopedSignalBlock no_signals;
  running_ = pthread_create(&thread_, nullptr, Run, this) == 0;
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
