#include <sys/system_properties.h>

#include "sdk/android/jni/debug_properties.h"

namespace jankbox {

std::string DebugProperty(const char* option) {
  const std::string name = "debug.jankbox." + std::string(option);
  constexpr size_t kMaxNameBytes = 31;  // what Android 7 and older take
  char value[PROP_VALUE_MAX] = {};
  __system_property_get(name.substr(0, kMaxNameBytes).c_str(), value);
  return value;
}

}  // namespace jankbox
