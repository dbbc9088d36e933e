#include "sdk/api/app_thread.h"

#include <new>

#include "base/files/fd_table.h"
#include "tracer/hook/reentry_guard.h"

namespace jankbox {

AppThread& AppThread::ForReports() {
  return MakeOnce([] { return new AppThread(); });
}

AppThread& AppThread::ForTransport() {
  return MakeOnce([] { return new AppThread(); });
}

void AppThread::Expect() {
  if (!FdTable::kMayDiffer) return;
  // What a thread of the parent had locked nobody unlocks here.
  if (pid_.load() != 0 && pid_.load() != getpid()) new (this) AppThread();
  expected_.store(true);
  MutexLock lock(&mutex_);
  if (!thread_.running() && thread_.Start([this] { Loop(); })) pid_.store(getpid());
}

void AppThread::StartExpected() {
  for (AppThread* thread : {&ForReports(), &ForTransport()}) {
    if (thread->expected_.load()) thread->Expect();
  }
}

void AppThread::Run(const std::function<void()>& call) {
  const bool has_thread = pid_.load() == getpid();
  if (FdTable::OfThisThread() == FdTable::kOfTheApp || !has_thread) return call();
  MutexLock turn(&turn_);
  MutexLock lock(&mutex_);
  call_ = &call;
  changed_.NotifyAll();
  while (call_ != nullptr) changed_.Wait(&mutex_);
}

void AppThread::Loop() {
  NameCurrentThread("jankbox-call");
  ReentryGuard::ExcludeThread();
  for (;;) {
    (*AwaitCall())();
    MutexLock lock(&mutex_);
    call_ = nullptr;
    changed_.NotifyAll();
  }
}

const std::function<void()>* AppThread::AwaitCall() {
  MutexLock lock(&mutex_);
  while (call_ == nullptr) changed_.Wait(&mutex_);
  return call_;
}

}  // namespace jankbox
