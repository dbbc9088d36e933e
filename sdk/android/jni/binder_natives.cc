// Binder calls: which interfaces were called, and what the codes of their stubs are called.
#include <algorithm>

#include "sdk/android/jni/binder_link.h"
#include "sdk/android/jni/native_methods.h"
#include "sdk/android/jni/native_text.h"

namespace jankbox {
namespace {

jstring JNICALL NewBinderInterface(JNIEnv* env, jclass) {
  const std::string name = NextBinderInterface();
  return name.empty() ? nullptr : env->NewStringUTF(name.c_str());
}

void JNICALL BinderCodes(JNIEnv* env, jclass, jstring stub, jobjectArray constants,
                         jintArray codes) {
  if (codes == nullptr) return;
  const std::string stub_class = TextOf(env, stub);
  const std::vector<std::string> names = TextsOf(env, constants);
  if (env->ExceptionCheck() == JNI_TRUE) return;
  std::vector<jint> numbers(static_cast<size_t>(env->GetArrayLength(codes)));
  env->GetIntArrayRegion(codes, 0, static_cast<jsize>(numbers.size()), numbers.data());
  for (size_t i = 0; i < std::min(names.size(), numbers.size()); ++i) {
    AddBinderMethod(stub_class, names[i], numbers[i]);
  }
}

}  // namespace

void AddBinderNatives(std::vector<JNINativeMethod>* methods) {
  methods->push_back({const_cast<char*>("newBinderInterface"),
                      const_cast<char*>("()Ljava/lang/String;"),
                      reinterpret_cast<void*>(NewBinderInterface)});
  methods->push_back({const_cast<char*>("binderCodes"),
                      const_cast<char*>("(Ljava/lang/String;[Ljava/lang/String;[I)V"),
                      reinterpret_cast<void*>(BinderCodes)});
}

}  // namespace jankbox
