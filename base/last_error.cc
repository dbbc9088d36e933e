#include "base/last_error.h"

#include <mutex>

#include "base/log.h"

namespace jankbox {
namespace {

std::mutex& Mutex() {
  static auto* mutex = new std::mutex();
  return *mutex;
}

std::string& Text() {
  static auto* text = new std::string();
  return *text;
}

}  // namespace

void SetLastError(const std::string& message) {
  {
    std::lock_guard<std::mutex> lock(Mutex());
    Text() = message;
  }
  LogWarning(message);
}

std::string LastError() {
  std::lock_guard<std::mutex> lock(Mutex());
  return Text();
}

}  // namespace jankbox
