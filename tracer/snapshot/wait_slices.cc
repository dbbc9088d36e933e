#include "tracer/snapshot/wait_slices.h"

#include <algorithm>
#include <iterator>

namespace jankbox {
namespace {

const char* CallName(WaitClass what) {
  switch (what) {
    case WaitClass::kMutex:
      return "lock contention on a mutex";
    case WaitClass::kReadLock:
      return "lock contention on a read-write lock, to read";
    case WaitClass::kWriteLock:
      return "lock contention on a read-write lock, to write";
    case WaitClass::kCondition:
      return "wait for a condition";
    case WaitClass::kSemaphore:
      return "wait for a semaphore";
    case WaitClass::kJoin:
      return "join a thread";
    case WaitClass::kFutex:
      return "futex";
    case WaitClass::kRead:
      return "read";
    case WaitClass::kWrite:
      return "write";
    case WaitClass::kReadv:
      return "readv";
    case WaitClass::kWritev:
      return "writev";
    case WaitClass::kPread:
      return "pread";
    case WaitClass::kPwrite:
      return "pwrite";
    case WaitClass::kFsync:
      return "fsync";
    case WaitClass::kFdatasync:
      return "fdatasync";
    case WaitClass::kOpen:
      return "open";
    case WaitClass::kClose:
      return "close";
    case WaitClass::kNone:
      break;
  }
  return "wait";
}

// By StackSample::FdClass.
constexpr const char* kFdClasses[] = {"", "file", "pipe", "socket", "event", "other"};
static_assert(std::size(kFdClasses) == wait_event::kMaxFdClass + 1);

bool Transfers(WaitClass what) { return what >= WaitClass::kRead && what <= WaitClass::kPwrite; }

}  // namespace

bool DecodeWaitRecord(const EventRecord& record, WaitEvent* wait) {
  if (record.payload.size() > 1) return false;
  const uint64_t word = record.payload.empty() ? 0 : PayloadOf(record.payload[0]);
  return DecodeWait(record.id, {&word, record.payload.size()}, wait);
}

std::string WaitName(const WaitEvent& begin, const std::string& owner_name) {
  std::string name = CallName(begin.what);
  if (!IsFileWait(begin.what)) {
    if (begin.owner_tid == 0) return name;
    name += begin.what == WaitClass::kJoin ? " (" : " (owner ";
    if (!owner_name.empty()) name += owner_name + " ";
    return name + "[" + std::to_string(begin.owner_tid) + "])";
  }
  std::string inside = kFdClasses[std::min<size_t>(begin.fd_class, wait_event::kMaxFdClass)];
  if (Transfers(begin.what)) {
    if (!inside.empty()) inside += ", ";
    inside += std::to_string(begin.bytes) + (begin.bytes == 1 ? " byte" : " bytes");
  }
  return inside.empty() ? name : name + " (" + inside + ")";
}

}  // namespace jankbox
