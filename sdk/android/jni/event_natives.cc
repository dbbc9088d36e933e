// Events: the calls that instrumented Java code makes at each method.
#include "jankbox/inline.h"
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

}  // namespace

void AddEventMethods(CallForm form, std::vector<JNINativeMethod>* methods) {
  for (const HotMethod& method :
       {Critical<Begin>("begin", "!(I)V"), Critical<End>("end", "!(I)V"),
        Critical<AsyncBegin>("asyncBegin", "!(IJ)V"), Critical<AsyncEnd>("asyncEnd", "!(IJ)V"),
        Critical<Counter>("counter", "!(IJ)V"), Critical<Instant>("instant", "!(I)V")}) {
    methods->push_back(MethodOf(method, form));
  }
  methods->push_back({const_cast<char*>("methodId"), const_cast<char*>("(Ljava/lang/String;)I"),
                      reinterpret_cast<void*>(MethodId)});
}

}  // namespace jankbox
