#include "tracer/ring/wait_record.h"

#include <cstring>

#include "tracer/event/binder_call.h"

namespace jankbox {
namespace {

// By WaitClass, without the numbers between kBinder and kRead. One text: pointers to each would
// take more room than the names, and relocations.
constexpr char kNames[] =
    "wait\0lock contention on a mutex\0lock contention on a read-write lock, to read\0"
    "lock contention on a read-write lock, to write\0wait for a condition\0wait for a semaphore\0"
    "join a thread\0futex\0binder call\0"
    "read\0write\0readv\0writev\0pread\0pwrite\0fsync\0fdatasync\0open\0close";

}  // namespace

bool DecodeWaitRecord(const EventRecord& record, WaitEvent* wait) {
  if (BeginsBinderCall(record.id)) return DecodeBinderRecord(record, wait);
  if (record.payload.size() > 1) return false;
  const uint64_t word = record.payload.empty() ? 0 : PayloadOf(record.payload[0]);
  return DecodeWait(record.id, {&word, record.payload.size()}, wait);
}

const char* WaitClassName(WaitClass what) {
  auto number = static_cast<uint32_t>(what);
  if (!IsWaitClass(number)) number = 0;
  constexpr auto kBinder = static_cast<uint32_t>(WaitClass::kBinder);
  if (number > kBinder) number -= static_cast<uint32_t>(WaitClass::kRead) - kBinder - 1;
  const char* name = kNames;
  for (; number > 0; --number) name += strlen(name) + 1;
  return name;
}

}  // namespace jankbox
