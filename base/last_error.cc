#include "base/last_error.h"

#include "base/log.h"
#include "base/mutex.h"

namespace jankbox {
namespace {

Mutex g_mutex;

std::string& Text() REQUIRES(g_mutex) {
  return MakeOnce([] { return new std::string(); });
}

}  // namespace

void SetLastError(const std::string& message) {
  {
    MutexLock lock(&g_mutex);
    Text() = message;
  }
  LogWarning(message);
}

std::string LastError() {
  MutexLock lock(&g_mutex);
  return Text();
}

}  // namespace jankbox
