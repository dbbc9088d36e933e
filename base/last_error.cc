#include "base/last_error.h"

#include <pthread.h>

#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "base/mutex.h"

namespace jankbox {
namespace {

Mutex g_mutex;

std::string& Text() REQUIRES(g_mutex) {
  return MakeOnce([] { return new std::string(); });
}

// A block of malloc's that each thread owns; freed at its end and when it gets another. A
// thread_local with a destructor would end the process where there is no memory to register that.
class OwnedByThread {
 public:
  OwnedByThread() : usable_(pthread_key_create(&key_, free) == 0) {}

  // False, and frees `block`, if the thread cannot own one.
  bool Set(void* block) const {
    void* const old = usable_ ? pthread_getspecific(key_) : nullptr;
    const bool owned = usable_ && pthread_setspecific(key_, block) == 0;
    free(owned ? old : block);
    return owned;
  }

 private:
  pthread_key_t key_{};
  bool usable_;
};

}  // namespace

void SetLastError(const std::string& message) {
  {
    MutexLock lock(&g_mutex);
    Text() = message;
  }
  LogWarning(message);
}

std::string_view LastError() {
  constexpr char kNoMemory[] = "no memory for the last error";
  static const OwnedByThread texts;
  MutexLock lock(&g_mutex);
  if (Text().empty()) return "";
  char* const copy = strdup(Text().c_str());
  if (copy == nullptr || !texts.Set(copy)) return kNoMemory;
  return copy;
}

}  // namespace jankbox
