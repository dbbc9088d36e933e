#include "sdk/runtime/crash_loop.h"

#include <utility>

#include "base/file.h"
#include "base/log.h"

namespace jankbox {

CrashLoop::CrashLoop(std::string folder, const std::string& program, ProcessIdentity self)
    : folder_(std::move(folder)) {
  Identify(program, std::move(self));
}

void CrashLoop::Identify(const std::string& program, ProcessIdentity self) {
  path_ = JoinPath(folder_, kStartsFilePrefix + program);
  self_ = std::move(self);
}

StartHistory CrashLoop::ReadWithoutSelf() const {
  StartHistory history = ReadStartHistory(path_);
  history.Remove(self_.pid);
  return history;
}

void CrashLoop::Begin() {
  StartHistory history = CountEndedStarts(ReadWithoutSelf(), [this](const ProcessIdentity& start) {
    return EndOfStart(folder_, start);
  });
  history.young.push_back(self_);
  WriteStartHistory(folder_, path_, history);
  std::string reason;
  if (history.failed >= kMaxFailedStarts) {
    reason =
        "hooks are off (waits, frames, markers, locks, input and output are not seen): the last " +
        std::to_string(history.failed) +
        " starts died within 2 s of their installation; a start that lives 10 s turns them on "
        "again, and so does removing " +
        path_;
    LogWarning(reason);
  }
  MutexLock lock(&mutex_);
  reason_ = std::move(reason);
  is_decided_ = true;
  decided_.NotifyAll();
}

void CrashLoop::Lived() {
  StartHistory history = ReadWithoutSelf();
  history.failed = 0;
  WriteStartHistory(folder_, path_, history);
}

void CrashLoop::Ended() { WriteStartHistory(folder_, path_, ReadWithoutSelf()); }

bool CrashLoop::HooksAllowed(uint64_t timeout_ns) {
  const uint64_t deadline_ns = MonotonicNs() + timeout_ns;
  MutexLock lock(&mutex_);
  while (!is_decided_ && decided_.WaitUntil(&mutex_, deadline_ns)) {
  }
  return is_decided_ && reason_.empty();
}

std::string CrashLoop::Reason() {
  MutexLock lock(&mutex_);
  return reason_;
}

}  // namespace jankbox
