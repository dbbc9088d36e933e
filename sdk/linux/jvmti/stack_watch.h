// Takes Java stacks of an event thread while a message of it is overdue, which native unwinding
// does not see, and what it waits for: the calls that most of them share go into the report, as
// attributes, and all become slices of this thread in the trace. A thread of the VM's,
// "jankbox-java", which costs the event thread nothing until a message is overdue. As
// dev.jankbox.StackWatch does on Android.
#ifndef JANKBOX_SDK_LINUX_JVMTI_STACK_WATCH_H_
#define JANKBOX_SDK_LINUX_JVMTI_STACK_WATCH_H_

#include <jvmti.h>

#include <string>

#include "base/mutex.h"
#include "sdk/linux/jvmti/call_names.h"
#include "sdk/linux/jvmti/call_slices.h"
#include "sdk/linux/jvmti/event_threads.h"
#include "sdk/linux/jvmti/sampled_calls.h"

namespace jankbox {

class StackWatch {
 public:
  explicit StackWatch(jvmtiEnv* vm) : vm_(vm), names_(vm) {}

  // Starts the thread. False if the VM gives none. On a thread of the VM's, which runs.
  bool Start(JNIEnv* env);

  // The VM is about to die: when this returns, the thread makes no call of the VM any more. Any
  // thread of the VM.
  void Stop();

 private:
  static void JNICALL Run(jvmtiEnv* vm, JNIEnv* env, void* self);
  void Follow(JNIEnv* env);
  // Until message `sequence` of the thread at `index` is over.
  void Sample(JNIEnv* env, size_t index, uint32_t sequence);
  // One sample. False if the message is over.
  bool Take(JNIEnv* env, const EventThread& place, uint32_t sequence, SampledCalls* samples)
      REQUIRES(mutex_);
  void Note(JNIEnv* env, size_t index, uint32_t sequence, const SampledCalls& samples)
      REQUIRES(mutex_);
  std::string WaitOf(JNIEnv* env, jthread thread, const SampledCalls::Stack& stack)
      REQUIRES(mutex_);
  void FreePlacesOfDeadThreads(JNIEnv* env) REQUIRES(mutex_);
  // False: stopped.
  bool Pause(uint64_t ms);

  jvmtiEnv* const vm_;
  Mutex mutex_;  // while it is locked, the VM lives
  CondVar changed_;
  bool stopped_ GUARDED_BY(mutex_) = false;
  CallNames names_ GUARDED_BY(mutex_);
  CallSlices slices_;  // of Run()'s thread
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_LINUX_JVMTI_STACK_WATCH_H_
