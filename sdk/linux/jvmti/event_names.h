// The class name of the AWT event that the calling thread handles, from EventQueue.currentEvent,
// which AWT sets when it dispatches an event. The VM gives an argument of a method only at a
// safepoint of all threads (OpenJDK 17), so the event is read from that field.
#ifndef JANKBOX_SDK_LINUX_JVMTI_EVENT_NAMES_H_
#define JANKBOX_SDK_LINUX_JVMTI_EVENT_NAMES_H_

#include <jni.h>

#include <atomic>

#include "tracer/event/event.h"

namespace jankbox {

struct EventName {
  char text[kMaxDispatchNameBytes + 1] = {};
};

class EventNames {
 public:
  // Finds the fields; `thread` is the calling event thread. If this JDK has other fields, events
  // have no names. Clears the exceptions that this causes. Once; cold.
  void Find(JNIEnv* env, jobject thread);

  // The name of the event of `thread`, which is the calling one, as java.lang.Class.getName()
  // returns it; of a long one its end. "" if AWT has set none. HOT: NO-ALLOC, no lock, but for the
  // first event of a class, for which the VM makes the text.
  EventName OfThisThread(JNIEnv* env, jobject thread) const;

 private:
  jstring NameOf(JNIEnv* env, jclass event_class) const;

  // java.awt.EventDispatchThread, a global reference; stored last. Null: no names.
  std::atomic<jclass> thread_class_{nullptr};
  jfieldID the_queue_ = nullptr;      // of it: an EventQueue
  jfieldID current_event_ = nullptr;  // of EventQueue: a WeakReference
  jfieldID referent_ = nullptr;       // of Reference
  jfieldID name_ = nullptr;           // of Class; null until getName() was called
  jmethodID get_name_ = nullptr;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_LINUX_JVMTI_EVENT_NAMES_H_
