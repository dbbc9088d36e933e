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

// The text that each thread was given last: a block of malloc's, freed at the thread's end and when
// it gets another. A thread_local with a destructor would end the process where there is no memory
// to register that.
class TextOfThread {
 public:
  TextOfThread() : has_key_(pthread_key_create(&key_, free) == 0) {}

  // Null if there is no memory. In a process that has no key left for it, the text is never freed.
  const char* Set(const std::string& text) {
    const char* const old = has_key_ ? static_cast<char*>(pthread_getspecific(key_)) : last_;
    if (old != nullptr && text == old) return old;
    char* const copy = strdup(text.c_str());
    if (!has_key_) return last_ = copy;
    if (copy != nullptr && pthread_setspecific(key_, copy) != 0) {
      free(copy);
      return nullptr;
    }
    if (copy != nullptr) free(const_cast<char*>(old));
    return copy;
  }

 private:
  pthread_key_t key_{};
  const bool has_key_;
  const char* last_ = nullptr;
};

TextOfThread& GivenText() REQUIRES(g_mutex) {
  return MakeOnce([] { return new TextOfThread(); });
}

}  // namespace

void SetLastError(const std::string& message) {
  {
    MutexLock lock(&g_mutex);
    Text() = message;
  }
  LogWarning(message);
}

std::string_view LastError() {
  MutexLock lock(&g_mutex);
  if (Text().empty()) return "";
  const char* const text = GivenText().Set(Text());
  return text == nullptr ? "no memory for the last error" : text;
}

}  // namespace jankbox
