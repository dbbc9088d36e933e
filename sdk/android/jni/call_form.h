// How the VM calls a native method that was made to be called often. ART calls one that is
// annotated with dalvik.annotation.optimization.CriticalNative without JNIEnv and class from
// Android 8 on (API 26; it wants it registered, not looked up, as it is here); before that "!" in
// front of the signature leaves the thread's state as it is. HotSpot knows neither.
#ifndef JANKBOX_SDK_ANDROID_JNI_CALL_FORM_H_
#define JANKBOX_SDK_ANDROID_JNI_CALL_FORM_H_

namespace jankbox {

enum class CallForm {
  kOrdinary,  // JNIEnv*, jclass, arguments
  kFast,      // the same, registered with "!"
  kCritical,  // only the arguments
};

CallForm CallFormOfThisVm();

}  // namespace jankbox

#endif  // JANKBOX_SDK_ANDROID_JNI_CALL_FORM_H_
