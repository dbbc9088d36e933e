// The native methods of dev.jankbox.Native, by what they are about. JNI_OnLoad registers them; no
// name is exported for the VM to look up.
#ifndef JANKBOX_SDK_ANDROID_JNI_NATIVE_METHODS_H_
#define JANKBOX_SDK_ANDROID_JNI_NATIVE_METHODS_H_

#include <jni.h>

#include <vector>

#include "sdk/android/jni/call_form.h"

namespace jankbox {

// A method that is called often. The signature begins with "!"; `critical` is null if the
// method takes objects: then the Java side annotates it with FastNative, which changes no argument.
struct HotMethod {
  const char* name;
  const char* signature;
  void* ordinary;
  void* critical;
};

// The entry for a VM of that form.
JNINativeMethod MethodOf(const HotMethod& method, CallForm form);

// The ordinary form of a function that takes neither JNIEnv nor class.
template <auto kFunction>
struct Ordinary;
template <typename Result, typename... Arguments, Result (*kFunction)(Arguments...)>
struct Ordinary<kFunction> {
  static Result JNICALL Call(JNIEnv*, jclass, Arguments... arguments) {
    return kFunction(arguments...);
  }
};

template <auto kFunction>
HotMethod Critical(const char* name, const char* signature) {
  return {name, signature, reinterpret_cast<void*>(&Ordinary<kFunction>::Call),
          reinterpret_cast<void*>(kFunction)};
}

// One a part of the surface: appends its methods.
void AddEventMethods(CallForm form, std::vector<JNINativeMethod>* methods);
void AddFrameMethods(CallForm form, std::vector<JNINativeMethod>* methods);
void AddLooperMethods(CallForm form, std::vector<JNINativeMethod>* methods);
void AddSessionMethods(std::vector<JNINativeMethod>* methods);
void AddUploadMethods(std::vector<JNINativeMethod>* methods);
void AddBinderNatives(std::vector<JNINativeMethod>* methods);

// Looks up what the Looper's methods call in Java. False with an exception pending.
bool FindLooperCallbacks(JNIEnv* env, jclass native);

// Reports are sent by Native.post() from now on. False with an exception pending.
bool UploadThroughJava(JavaVM* vm, JNIEnv* env, jclass native);

}  // namespace jankbox

#endif  // JANKBOX_SDK_ANDROID_JNI_NATIVE_METHODS_H_
