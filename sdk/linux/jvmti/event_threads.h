// The event threads of AWT and their messages: a message is from the start of
// EventQueue.dispatchEvent() to the next EventQueue.getNextEvent(), so a modal dialog's nested loop
// ends the message that opened it. The functions that take a JNIEnv run on the app's threads, in
// the VM's breakpoint events, and are HOT: NO-ALLOC, no lock, no system call, but for a thread's
// first wait and a message that began before the recorder was ready.
#ifndef JANKBOX_SDK_LINUX_JVMTI_EVENT_THREADS_H_
#define JANKBOX_SDK_LINUX_JVMTI_EVENT_THREADS_H_

#include <jni.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sdk/android/jni/running_message.h"

namespace jankbox {

// One thread's place. Its thread writes it; the sampler of stacks reads it.
struct EventThread {
  std::atomic<int32_t> tid{0};           // 0: the place is free
  std::atomic<jobject> thread{nullptr};  // a global reference, stored last
  RunningMessage message;
};

class EventThreads {
 public:
  static constexpr size_t kMaxThreads = 8;  // as many as Jankbox watches

  // `leave_thread`: jankbox_agent_leave_thread() of the preload agent. Before any thread waits.
  static void SetPreload(void (*leave_thread)());

  // The calling thread, which is `thread`, is about to wait for an event: no message runs. True at
  // its first wait.
  static bool OnWait(JNIEnv* env, jobject thread);
  // It takes an event out of its queue: a message starts. Ignored within a message, and on a thread
  // that never waited: programs dispatch events themselves, too.
  static void OnDispatch();
  // The running message's name; at most kMaxDispatchNameBytes are kept.
  static void OnName(const char* name);
  // Whether the calling thread's message runs and has no name yet.
  static bool NeedsName();

  // A thread has waited for events.
  static bool any();

  static EventThread& At(size_t index);
  // The thread of a place is gone: the next thread may have it.
  static void Free(JNIEnv* env, EventThread* place);
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_LINUX_JVMTI_EVENT_THREADS_H_
