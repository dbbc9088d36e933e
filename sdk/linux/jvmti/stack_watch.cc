#include "sdk/linux/jvmti/stack_watch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/own_thread.h"
#include "jankbox/jankbox.h"
#include "sdk/android/jni/incident_facts.h"

namespace jankbox {
namespace {

constexpr jint kMaxDepth = 512;
constexpr uint64_t kMinLookMs = 5;
constexpr uint64_t kMaxLookMs = 175;  // a quarter of 700 ms
constexpr uint64_t kSampleMs = 20;
constexpr uint64_t kLongSampleMs = 200;               // as the native side: ten times less often
constexpr uint64_t kLongBlockNs = 10 * kNsPerSecond;  // from here on
constexpr uint64_t kDeadThreadsNs = kNsPerSecond;     // how often they are looked for

// The threshold may change while Jankbox records.
uint64_t LookMs(bool message_runs) {
  const uint64_t slow_ms = jankbox_slow_message_ms();
  if (slow_ms == 0) return kMaxLookMs;
  return std::clamp(slow_ms / (message_runs ? 4 : 2), kMinLookMs, kMaxLookMs);
}

bool IsRunning(uint32_t sequence) { return (sequence & 1) != 0; }

}  // namespace

bool StackWatch::Start(JNIEnv* env) {
  const jclass thread_class = env->FindClass("java/lang/Thread");
  const jmethodID create = thread_class != nullptr
                               ? env->GetMethodID(thread_class, "<init>", "(Ljava/lang/String;)V")
                               : nullptr;
  const jstring name = create != nullptr ? env->NewStringUTF("jankbox-java") : nullptr;
  const jobject thread = name != nullptr ? env->NewObject(thread_class, create, name) : nullptr;
  if (env->ExceptionCheck() == JNI_TRUE) env->ExceptionClear();
  return thread != nullptr && vm_->RunAgentThread(thread, &StackWatch::Run, this,
                                                  JVMTI_THREAD_NORM_PRIORITY) == JVMTI_ERROR_NONE;
}

void StackWatch::Stop() {
  MutexLock lock(&mutex_);
  stopped_ = true;
  changed_.NotifyAll();
}

bool StackWatch::Pause(uint64_t ms) {
  const uint64_t deadline_ns = MonotonicNs() + ms * kNsPerMs;
  MutexLock lock(&mutex_);
  while (!stopped_ && changed_.WaitUntil(&mutex_, deadline_ns)) {
  }
  return !stopped_;
}

void StackWatch::Run(jvmtiEnv*, JNIEnv* env, void* self) {
  NameCurrentThread("jankbox-java");
  static_cast<StackWatch*>(self)->Follow(env);
}

void StackWatch::Follow(JNIEnv* env) {
  uint32_t last[EventThreads::kMaxThreads] = {};
  uint64_t dead_threads_ns = 0;
  bool message_runs = false;
  while (Pause(LookMs(message_runs))) {
    message_runs = false;
    for (size_t i = 0; i < EventThreads::kMaxThreads; ++i) {
      const uint32_t sequence = EventThreads::At(i).message.Sequence();
      if (IsRunning(sequence) && sequence == last[i]) Sample(env, i, sequence);
      message_runs = message_runs || IsRunning(sequence);
      last[i] = sequence;
    }
    const uint64_t now_ns = MonotonicNs();
    if (now_ns < dead_threads_ns) continue;
    dead_threads_ns = now_ns + kDeadThreadsNs;
    MutexLock lock(&mutex_);
    if (!stopped_) FreePlacesOfDeadThreads(env);
  }
}

void StackWatch::FreePlacesOfDeadThreads(JNIEnv* env) {
  for (size_t i = 0; i < EventThreads::kMaxThreads; ++i) {
    EventThread& place = EventThreads::At(i);
    const jthread thread = place.thread.load(std::memory_order_acquire);
    jint state = 0;
    if (thread == nullptr || vm_->GetThreadState(thread, &state) != JVMTI_ERROR_NONE) continue;
    if ((state & JVMTI_THREAD_STATE_TERMINATED) != 0) EventThreads::Free(env, &place);
  }
}

void StackWatch::Sample(JNIEnv* env, size_t index, uint32_t sequence) {
  SampledCalls samples;
  const EventThread& place = EventThreads::At(index);
  const uint64_t began_ns = MonotonicNs();
  while (true) {
    {
      MutexLock lock(&mutex_);
      if (stopped_ || !Take(env, place, sequence, &samples)) break;
      Note(env, index, sequence, samples);
    }
    const bool long_block = MonotonicNs() - began_ns > kLongBlockNs;
    if (!Pause(long_block ? kLongSampleMs : kSampleMs)) break;
  }
  slices_.EndAll();
}

bool StackWatch::Take(JNIEnv* env, const EventThread& place, uint32_t sequence,
                      SampledCalls* samples) {
  const jthread thread = place.thread.load(std::memory_order_acquire);
  std::vector<jvmtiFrameInfo> frames(kMaxDepth);
  jint count = 0;
  if (thread == nullptr ||
      vm_->GetStackTrace(thread, 0, kMaxDepth, frames.data(), &count) != JVMTI_ERROR_NONE) {
    return false;
  }
  SampledCalls::Stack stack;
  for (jint i = count; i-- > 0;) stack.push_back({frames[i].method, frames[i].location});
  const std::string wait = WaitOf(env, thread, stack);
  if (place.message.Sequence() != sequence) return false;  // it may be of the next message
  slices_.Show(stack, [&](const JavaCall& call) {
    mutex_.AssertOwned();
    return names_.NameOf(env, call);
  });
  samples->Add(std::move(stack), wait);
  return true;
}

std::string StackWatch::WaitOf(JNIEnv* env, jthread thread, const SampledCalls::Stack& stack) {
  jint state = 0;
  if (vm_->GetThreadState(thread, &state) != JVMTI_ERROR_NONE) return "";
  if ((state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0) return "BLOCKED on a monitor";
  if ((state & JVMTI_THREAD_STATE_WAITING) == 0 || stack.empty()) return "";
  const bool timed = (state & JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT) != 0;
  return (timed ? "TIMED_WAITING in " : "WAITING in ") + names_.NameOf(env, stack.back());
}

void StackWatch::Note(JNIEnv* env, size_t index, uint32_t sequence, const SampledCalls& samples) {
  const EventThread& place = EventThreads::At(index);
  SampledCalls::Path path = samples.Blamed();
  OverdueStack stack;
  // One number for each message of all threads.
  stack.sequence = sequence * EventThreads::kMaxThreads + static_cast<uint32_t>(index);
  stack.message = place.message.NameOf(sequence);
  stack.taken_ns = MonotonicNs();
  stack.tid = place.tid.load(std::memory_order_relaxed);
  stack.seen = static_cast<uint32_t>(path.seen);
  stack.samples = static_cast<uint32_t>(samples.count());
  stack.wait = samples.Wait();
  while (!path.calls.empty() && stack.frames.size() < IncidentFacts::kMaxFrames) {
    stack.frames.push_back(names_.LineOf(env, path.calls.back()));
    path.calls.pop_back();
  }
  if (place.message.Sequence() == sequence) IncidentFacts::Get().NoteStack(std::move(stack));
}

}  // namespace jankbox
