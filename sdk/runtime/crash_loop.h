// Keeps hooks off in a program that keeps dying with them: after kMaxFailedStarts starts that died
// within kCriticalNs and may have died of hooks (MayHaveDiedOfHooks), hooks stay off until a start
// lives longer. Begin(), Lived() and Ended() touch the disk: on the sealing thread. The rest: any
// thread. A disk that takes no file leaves hooks on.
#ifndef JANKBOX_SDK_RUNTIME_CRASH_LOOP_H_
#define JANKBOX_SDK_RUNTIME_CRASH_LOOP_H_

#include <cstdint>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "diagnosis/seal/start_history.h"
#include "tracer/ring/process_identity.h"

namespace jankbox {

inline constexpr uint32_t kMaxFailedStarts = 2;
inline constexpr uint64_t kCriticalNs = 10 * kNsPerSecond;

class CrashLoop {
 public:
  // `folder` is the report folder, `program` the name of the executable, `self` the process that
  // starts.
  CrashLoop(std::string folder, const std::string& program,
            ProcessIdentity self = CurrentProcess());

  // The same, and Identify() follows before anything else.
  explicit CrashLoop(std::string folder) : folder_(std::move(folder)) {}
  void Identify(const std::string& program, ProcessIdentity self);

  // Notes that this process starts, and decides.
  void Begin();
  // It lived longer than kCriticalNs: all is forgiven.
  void Lived();
  // It stops orderly before that: no failed start, and none that lived.
  void Ended();

  // Waits for the decision, at most `timeout_ns`. False: hooks must (still) stay off.
  bool HooksAllowed(uint64_t timeout_ns);

  // Why hooks are off; empty if they are not.
  std::string Reason();

 private:
  StartHistory ReadWithoutSelf() const;

  const std::string folder_;
  std::string path_;
  ProcessIdentity self_;

  Mutex mutex_;
  CondVar decided_;
  bool is_decided_ GUARDED_BY(mutex_) = false;
  std::string reason_ GUARDED_BY(mutex_);
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_CRASH_LOOP_H_
