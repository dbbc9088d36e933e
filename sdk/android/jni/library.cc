// JNI_OnLoad, the one symbol of libjankbox_jni.so.
#include <jni.h>

#include <vector>

#include "sdk/android/jni/native_methods.h"

namespace jankbox {

JNINativeMethod MethodOf(const HotMethod& method, CallForm form) {
  const bool critical = form == CallForm::kCritical && method.critical != nullptr;
  const char* signature = form == CallForm::kFast ? method.signature : method.signature + 1;
  return {const_cast<char*>(method.name), const_cast<char*>(signature),
          critical ? method.critical : method.ordinary};
}

namespace {

bool RegisterAll(JavaVM* vm, JNIEnv* env) {
  jclass native = env->FindClass("dev/jankbox/Native");
  if (native == nullptr) return false;
  const CallForm form = CallFormOfThisVm();
  std::vector<JNINativeMethod> methods;
  AddEventMethods(form, &methods);
  AddFrameMethods(form, &methods);
  AddLooperMethods(form, &methods);
  AddSessionMethods(&methods);
  AddUploadMethods(&methods);
  AddBinderNatives(&methods);
  const bool registered =
      env->RegisterNatives(native, methods.data(), static_cast<jint>(methods.size())) == JNI_OK &&
      FindLooperCallbacks(env, native) && UploadThroughJava(vm, env, native);
  env->DeleteLocalRef(native);
  return registered;
}

}  // namespace
}  // namespace jankbox

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void* /*reserved*/) {
  JNIEnv* env = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_1_6) != JNI_OK) return JNI_ERR;
  // The error is pending as an exception, which System.loadLibrary() throws on.
  return jankbox::RegisterAll(vm, env) ? JNI_VERSION_1_6 : JNI_ERR;
}
