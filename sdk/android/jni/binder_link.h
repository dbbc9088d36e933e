// libjankbox.so's half of binder's names (sdk/api/binder_link.h); on Linux it has none.
#ifndef JANKBOX_SDK_ANDROID_JNI_BINDER_LINK_H_
#define JANKBOX_SDK_ANDROID_JNI_BINDER_LINK_H_

#include <cstdint>
#include <string>

namespace jankbox {

// An interface that was not reported yet; "" if there is none.
std::string NextBinderInterface();

void AddBinderMethod(const std::string& stub, const std::string& constant, int32_t code);

}  // namespace jankbox

#endif  // JANKBOX_SDK_ANDROID_JNI_BINDER_LINK_H_
