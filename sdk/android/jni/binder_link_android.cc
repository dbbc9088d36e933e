#include "sdk/android/jni/binder_link.h"
#include "sdk/api/binder_link.h"

namespace jankbox {

std::string NextBinderInterface() {
  char name[128];  // longer than any that is recorded
  return jankbox_binder_interface(name, sizeof(name)) != 0 ? name : "";
}

void AddBinderMethod(const std::string& stub, const std::string& constant, int32_t code) {
  jankbox_binder_method(stub.c_str(), constant.c_str(), code);
}

}  // namespace jankbox
