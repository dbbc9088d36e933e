#include "sdk/android/jni/binder_link.h"

namespace jankbox {

std::string NextBinderInterface() { return ""; }

void AddBinderMethod(const std::string& /*stub*/, const std::string& /*constant*/,
                     int32_t /*code*/) {}

}  // namespace jankbox
