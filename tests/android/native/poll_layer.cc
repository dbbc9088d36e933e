// The native half of android.os.MessageQueue over Debian's libutils, as far as its Java half asks
// for it, and what android.os.Trace and the benches call. For the tests on a VM.
#include <jni.h>
#include <utils/Looper.h>

#include <atomic>
#include <cstdint>

namespace {

using android::Looper;
using android::sp;

std::atomic<bool> g_tracing_allowed{false};

Looper* LooperAt(jlong pointer) { return reinterpret_cast<Looper*>(pointer); }

jlong JNICALL Init(JNIEnv*, jclass) {
  sp<Looper> looper = Looper::getForThread();
  if (looper == nullptr) {
    looper = new Looper(false);
    Looper::setForThread(looper);
  }
  looper->incStrong(nullptr);
  return reinterpret_cast<jlong>(looper.get());
}
void JNICALL Destroy(JNIEnv*, jclass, jlong queue) { LooperAt(queue)->decStrong(nullptr); }
void JNICALL PollOnce(JNIEnv*, jobject, jlong queue, jint timeout_ms) {
  LooperAt(queue)->pollOnce(timeout_ms);
}
void JNICALL Wake(JNIEnv*, jclass, jlong queue) { LooperAt(queue)->wake(); }
jboolean JNICALL IsPolling(JNIEnv*, jclass, jlong queue) {
  return LooperAt(queue)->isPolling() ? JNI_TRUE : JNI_FALSE;
}

// TRACE_TAG_APP, if the process may be traced.
jlong JNICALL EnabledTags(JNIEnv*, jclass) {
  constexpr jlong kApp = 1 << 12;
  return g_tracing_allowed.load() ? kApp : 0;
}
void JNICALL SetTracingAllowed(JNIEnv*, jclass, jboolean allowed) {
  g_tracing_allowed.store(allowed == JNI_TRUE);
}
void JNICALL Nothing(JNIEnv*, jclass, jint) {}

// A mistake that -Xcheck:jni reports: a call while an exception is pending.
void JNICALL Mistake(JNIEnv* env, jclass caller) {
  env->GetStaticMethodID(caller, "thereIsNoSuchMethod", "()V");
  env->FindClass("java/lang/String");
  env->ExceptionClear();
}

template <size_t kCount>
bool Register(JNIEnv* env, const char* class_name, const JNINativeMethod (&methods)[kCount]) {
  jclass found = env->FindClass(class_name);
  return found != nullptr && env->RegisterNatives(found, methods, kCount) == JNI_OK;
}

#define METHOD(name, signature, function) \
  { const_cast<char*>(name), const_cast<char*>(signature), reinterpret_cast<void*>(function) }

}  // namespace

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void*) {
  JNIEnv* env = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_1_6) != JNI_OK) return JNI_ERR;
  const JNINativeMethod queue[] = {
      METHOD("nativeInit", "()J", Init), METHOD("nativeDestroy", "(J)V", Destroy),
      METHOD("nativePollOnce", "(JI)V", PollOnce), METHOD("nativeWake", "(J)V", Wake),
      METHOD("nativeIsPolling", "(J)Z", IsPolling)};
  const JNINativeMethod trace[] = {METHOD("nativeGetEnabledTags", "()J", EnabledTags),
                                   METHOD("nativeSetAppTracingAllowed", "(Z)V", SetTracingAllowed)};
  const JNINativeMethod calls[] = {METHOD("nothing", "(I)V", Nothing),
                                   METHOD("mistake", "()V", Mistake)};
  const bool registered = Register(env, "android/os/MessageQueue", queue) &&
                          Register(env, "android/os/Trace", trace) &&
                          Register(env, "dev/jankbox/TestNatives", calls);
  return registered ? JNI_VERSION_1_6 : JNI_ERR;
}
