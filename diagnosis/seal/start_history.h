// The starts of a program that died young, and those that may: a small text file per program in the
// report folder, which keeps hooks off in a program that keeps dying with them
// (sdk/runtime/crash_loop.h). Content that makes no sense counts as none. Two processes of a
// program that start in the same millisecond may overwrite each other's line: a start then is not
// counted. Any thread but the app's; touches the disk.
#ifndef JANKBOX_DIAGNOSIS_SEAL_START_HISTORY_H_
#define JANKBOX_DIAGNOSIS_SEAL_START_HISTORY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/ring/process_identity.h"
#include "tracer/ring/ring_format.h"

namespace jankbox {

inline constexpr size_t kMaxStartsFileBytes = 4096;
inline constexpr char kStartsFilePrefix[] = ".starts-";  // and the program's name

// The contents of the file.
struct StartHistory {
  uint32_t failed = 0;                 // starts in a row that died young
  std::vector<ProcessIdentity> young;  // started, and not yet known to live

  // Not that of process `pid`.
  void Remove(int pid);
};

// Empty if `text` is no history. At most 16 young starts are kept.
StartHistory ParseStartHistory(std::string_view text);
std::string FormatStartHistory(const StartHistory& history);

StartHistory ReadStartHistory(const std::string& path);
// Whole or not at all for a process that dies meanwhile. Not synced: a power cut is no crash.
void WriteStartHistory(const std::string& folder, const std::string& path,
                       const StartHistory& history);

// What a young start came to.
enum class StartEnd { kLives, kFailed, kForgiven };

// Removes starts that have ended, and counts the failed ones.
StartHistory CountEndedStarts(StartHistory history,
                              const std::function<StartEnd(const ProcessIdentity&)>& end_of);

// As far as its ring in the rings of `folder` tells: one that has no ring any more has failed.
StartEnd EndOfStart(const std::string& folder, const ProcessIdentity& start);

// Whether hooks may have been the death of the process that wrote this header: it died while they
// were being changed, or too soon after that for its watcher to have looked again.
bool MayHaveDiedOfHooks(const RingHeader& header);

// Process `pid` did not die of hooks, whatever program it was: its start is no failed one.
void ForgiveStart(const std::string& folder, int pid);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_START_HISTORY_H_
