#include "sdk/linux/jvmti/event_names.h"

#include <algorithm>
#include <cstring>

namespace jankbox {
namespace {

jfieldID Field(JNIEnv* env, jclass owner, const char* name, const char* signature) {
  const jfieldID field = owner != nullptr ? env->GetFieldID(owner, name, signature) : nullptr;
  if (env->ExceptionCheck() == JNI_TRUE) env->ExceptionClear();
  return field;
}

jclass Class(JNIEnv* env, const char* name) {
  const jclass found = env->FindClass(name);
  if (env->ExceptionCheck() == JNI_TRUE) env->ExceptionClear();
  return found;
}

}  // namespace

void EventNames::Find(JNIEnv* env, jobject thread) {
  const jclass thread_class = env->GetObjectClass(thread);
  const jclass class_class = Class(env, "java/lang/Class");
  const jclass queue_class = Class(env, "java/awt/EventQueue");
  the_queue_ = Field(env, thread_class, "theQueue", "Ljava/awt/EventQueue;");
  current_event_ = Field(env, queue_class, "currentEvent", "Ljava/lang/ref/WeakReference;");
  referent_ = Field(env, Class(env, "java/lang/ref/Reference"), "referent", "Ljava/lang/Object;");
  name_ = Field(env, class_class, "name", "Ljava/lang/String;");
  if (class_class != nullptr) {
    get_name_ = env->GetMethodID(class_class, "getName", "()Ljava/lang/String;");
  }
  if (env->ExceptionCheck() == JNI_TRUE) env->ExceptionClear();
  const bool found = the_queue_ != nullptr && current_event_ != nullptr && referent_ != nullptr &&
                     name_ != nullptr && get_name_ != nullptr;
  if (!found) return;
  const auto kept = static_cast<jclass>(env->NewGlobalRef(thread_class));
  thread_class_.store(kept, std::memory_order_release);
}

jstring EventNames::NameOf(JNIEnv* env, jclass event_class) const {
  const auto known = static_cast<jstring>(env->GetObjectField(event_class, name_));
  if (known != nullptr) return known;
  const auto made = static_cast<jstring>(env->CallObjectMethod(event_class, get_name_));
  if (env->ExceptionCheck() == JNI_FALSE) return made;
  env->ExceptionClear();
  return nullptr;
}

// The VM frees the local references when the event returns.
EventName EventNames::OfThisThread(JNIEnv* env, jobject thread) const {
  EventName name;
  const jclass thread_class = thread_class_.load(std::memory_order_acquire);
  if (thread_class == nullptr || env->IsInstanceOf(thread, thread_class) == JNI_FALSE) return name;
  const jobject queue = env->GetObjectField(thread, the_queue_);
  const jobject current = queue != nullptr ? env->GetObjectField(queue, current_event_) : nullptr;
  const jobject event = current != nullptr ? env->GetObjectField(current, referent_) : nullptr;
  const jstring text = event != nullptr ? NameOf(env, env->GetObjectClass(event)) : nullptr;
  if (text == nullptr) return name;
  constexpr jsize kMaxUnits = kMaxDispatchNameBytes;
  char bytes[3 * kMaxUnits + 1] = {};  // modified UTF-8 has up to 3 bytes a unit
  const jsize units = env->GetStringLength(text);
  const jsize kept = std::min(units, kMaxUnits);
  env->GetStringUTFRegion(text, units - kept, kept, bytes);
  // Names are ASCII; the rest of another one is cut.
  memcpy(name.text, bytes, std::min(strlen(bytes), kMaxDispatchNameBytes));
  return name;
}

}  // namespace jankbox
