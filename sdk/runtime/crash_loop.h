// Keeps hooks off in a program that keeps dying with them: after kMaxFailedStarts starts that died
// within kCriticalNs, hooks stay off until a start lives longer. A small text file per program in
// the report folder says which starts are young; one that is not alive any more has died young.
// Begin(), Lived() and Ended() touch the disk: on the sealing thread. The rest: any thread.
// Content that makes no sense counts as none, and a disk that takes no file leaves hooks on. Two
// processes of a program that start in the same millisecond may overwrite each other's line: a
// start then is not counted.
#ifndef JANKBOX_SDK_RUNTIME_CRASH_LOOP_H_
#define JANKBOX_SDK_RUNTIME_CRASH_LOOP_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "tracer/ring/process_identity.h"

namespace jankbox {

inline constexpr uint32_t kMaxFailedStarts = 2;
inline constexpr uint64_t kCriticalNs = 10 * kNsPerSecond;
inline constexpr size_t kMaxStartsFileBytes = 4096;
inline constexpr char kStartsFilePrefix[] = ".starts-";  // and the program's name

// The contents of the file.
struct StartHistory {
  uint32_t failed = 0;                 // starts in a row that died young
  std::vector<ProcessIdentity> young;  // started, and not yet known to live
};

// Empty if `text` is no history. At most 16 young starts are kept.
StartHistory ParseStartHistory(std::string_view text);
std::string FormatStartHistory(const StartHistory& history);

// Counts young starts that are dead as failed ones.
StartHistory CountDeadStarts(StartHistory history, bool (*is_alive)(const ProcessIdentity&));

class CrashLoop {
 public:
  // `folder` is the report folder, `program` the name of the executable, `self` the process that
  // starts.
  CrashLoop(std::string folder, const std::string& program,
            ProcessIdentity self = CurrentProcess());

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
  StartHistory Read() const;
  void Write(const StartHistory& history);
  StartHistory WithoutSelf(StartHistory history) const;

  const std::string folder_;
  const std::string path_;
  const ProcessIdentity self_;

  Mutex mutex_;
  CondVar decided_;
  bool is_decided_ GUARDED_BY(mutex_) = false;
  std::string reason_ GUARDED_BY(mutex_);
};

// For the parent of process `pid`, which did not crash: whatever program it was, its start is no
// failed one. Touches the disk.
void ForgiveStart(const std::string& folder, int pid);

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_CRASH_LOOP_H_
