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
  MutexLock lock(&mutex_);
  expected_ = FdTable::kMayDiffer;
  if (expected_ && !thread_.running()) thread_.Start([this] { Loop(); });
}

void AppThread::StartExpected() {
  for (AppThread* thread : {&ForReports(), &ForTransport()}) {
    bool expected = false;
    {
      MutexLock lock(&thread->mutex_);
      expected = thread->expected_;
    }
    if (expected) thread->Expect();
  }
}

void AppThread::OnForkInChild() {
  for (AppThread* thread : {&ForReports(), &ForTransport()}) {
    thread->mutex_.AssertOwned();  // by nobody who is here
    const bool expected = thread->expected_;
    new (thread) AppThread();
    thread->expected_ = expected;
  }
}

void AppThread::Run(const std::function<void()>& call) {
  if (FdTable::OfThisThread() == FdTable::kOfTheApp) return call();
  MutexLock turn(&turn_);
  {
    MutexLock lock(&mutex_);
    if (thread_.running()) {
      call_ = &call;
      changed_.NotifyAll();
      while (call_ != nullptr) changed_.Wait(&mutex_);
      return;
    }
  }
  call();
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
