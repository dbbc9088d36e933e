// The system properties debug.jankbox.NAME, which a developer sets over adb ("setprop
// debug.jankbox.slow_message_ms 300"): NAME is an option's. Read at start; win over the app's own.
#ifndef JANKBOX_SDK_ANDROID_JNI_DEBUG_PROPERTIES_H_
#define JANKBOX_SDK_ANDROID_JNI_DEBUG_PROPERTIES_H_

#include <string>

namespace jankbox {

// "" where it is not set. On Linux an environment variable of that name stands for it.
std::string DebugProperty(const char* option);

}  // namespace jankbox

#endif  // JANKBOX_SDK_ANDROID_JNI_DEBUG_PROPERTIES_H_
