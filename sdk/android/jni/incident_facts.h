// Facts from Java for reports: stacks of the Looper's thread that were taken while a
// message was overdue, who made frames late, and how the last process ended. Kept here, so that the
// sealing thread need not enter the VM: it adds them as attributes. Any thread; locks, allocates.
#ifndef JANKBOX_SDK_ANDROID_JNI_INCIDENT_FACTS_H_
#define JANKBOX_SDK_ANDROID_JNI_INCIDENT_FACTS_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "jankbox/incident.h"
#include "sdk/android/jni/frame_jank_log.h"

namespace jankbox {

// The Java calls that a message spent most of its overdue time in.
struct OverdueStack {
  uint32_t sequence = 0;  // as RunningMessage counts
  std::string message;
  uint64_t taken_ns = 0;  // the last sample, while the message ran; CLOCK_MONOTONIC
  int32_t tid = 0;
  std::vector<std::string> frames;  // innermost first
  uint32_t seen = 0;                // samples that have all of these frames
  uint32_t samples = 0;
  std::string wait;  // what the thread waited for in most of them; "" if that is not one thing
};

class IncidentFacts {
 public:
  // An incident has 32 attributes; half of them are left to the app.
  static constexpr size_t kMaxFrames = 14;

  static IncidentFacts& Get();

  // Replaces what is known of the same message; the latest kKept are kept.
  void NoteStack(OverdueStack stack);

  void NoteFrameJank(const FrameJank& frame);

  // Key, value, key, value, … of the process before this one.
  void NoteLastExit(std::vector<std::string> keys_and_values);

  void Listen();
  void StopListening();

 private:
  static constexpr size_t kKept = 4;

  static int OnIncident(const jankbox_incident* incident, void* self);
  void AddAll(const jankbox_incident* incident);
  void AddStack(const jankbox_incident* incident) const REQUIRES(mutex_);
  void AddLastExit(const jankbox_incident* incident) const REQUIRES(mutex_);

  Mutex mutex_;
  std::deque<OverdueStack> stacks_ GUARDED_BY(mutex_);  // oldest first
  std::vector<std::string> last_exit_ GUARDED_BY(mutex_);
  FrameJankLog frame_jank_ GUARDED_BY(mutex_);
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_ANDROID_JNI_INCIDENT_FACTS_H_
