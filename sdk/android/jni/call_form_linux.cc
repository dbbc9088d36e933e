#include "sdk/android/jni/call_form.h"

namespace jankbox {

CallForm CallFormOfThisVm() { return CallForm::kOrdinary; }

}  // namespace jankbox
