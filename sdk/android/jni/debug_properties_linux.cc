#include <cstdlib>

#include "sdk/android/jni/debug_properties.h"

namespace jankbox {

std::string DebugProperty(const char* option) {
  const char* value = getenv(("debug.jankbox." + std::string(option)).c_str());
  return value == nullptr ? "" : value;
}

}  // namespace jankbox
