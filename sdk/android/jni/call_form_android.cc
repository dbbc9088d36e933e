#include <sys/system_properties.h>

#include <cstdlib>

#include "sdk/android/jni/call_form.h"

namespace jankbox {

CallForm CallFormOfThisVm() {
  constexpr int kFirstWithAnnotation = 26;
  char level[PROP_VALUE_MAX] = {};
  __system_property_get("ro.build.version.sdk", level);
  return atoi(level) >= kFirstWithAnnotation ? CallForm::kCritical : CallForm::kFast;
}

}  // namespace jankbox
