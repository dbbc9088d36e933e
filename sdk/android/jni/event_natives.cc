// Events: the calls that instrumented Java code makes at each method.
#include "jankbox/inline.h"
#include "jankbox/render.h"
#include "sdk/android/jni/native_methods.h"
#include "sdk/android/jni/native_text.h"

namespace jankbox {
namespace {

void Begin(jint id) { jankbox_begin_inline(static_cast<uint32_t>(id)); }
void End(jint id) { jankbox_end_inline(static_cast<uint32_t>(id)); }
void AsyncBegin(jint id, jlong cookie) {
  jankbox_async_begin(static_cast<uint32_t>(id), static_cast<uint64_t>(cookie));
}
void AsyncEnd(jint id, jlong cookie) {
  jankbox_async_end(static_cast<uint32_t>(id), static_cast<uint64_t>(cookie));
}
void Counter(jint id, jlong value) { jankbox_counter(static_cast<uint32_t>(id), value); }
void Instant(jint id) { jankbox_instant(static_cast<uint32_t>(id)); }

jint JNICALL MethodId(JNIEnv* env, jclass, jstring name) {
  return static_cast<jint>(jankbox_method_id(TextOf(env, name).c_str()));
}

jint JNICALL RenderId(JNIEnv* env, jclass, jstring kind, jstring name) {
  return static_cast<jint>(jankbox_render_id(TextOf(env, kind).c_str(), TextOf(env, name).c_str()));
}

}  // namespace

void AddEventMethods(CallForm form, std::vector<JNINativeMethod>* methods) {
  for (const HotMethod& method :
       {Critical<Begin>("begin", "!(I)V"), Critical<End>("end", "!(I)V"),
        Critical<AsyncBegin>("asyncBegin", "!(IJ)V"), Critical<AsyncEnd>("asyncEnd", "!(IJ)V"),
        Critical<Counter>("counter", "!(IJ)V"), Critical<Instant>("instant", "!(I)V")}) {
    methods->push_back(MethodOf(method, form));
  }
  const auto add = [methods](const char* name, const char* signature, void* function) {
    methods->push_back({const_cast<char*>(name), const_cast<char*>(signature), function});
  };
  add("methodId", "(Ljava/lang/String;)I", reinterpret_cast<void*>(MethodId));
  add("renderId", "(Ljava/lang/String;Ljava/lang/String;)I", reinterpret_cast<void*>(RenderId));
}

}  // namespace jankbox
