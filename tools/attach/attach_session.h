// Watches one process until it ends, the time is over, or a signal asks for the end. Prints what
// `jankbox run` prints. Threads: one.
#ifndef JANKBOX_TOOLS_ATTACH_ATTACH_SESSION_H_
#define JANKBOX_TOOLS_ATTACH_ATTACH_SESSION_H_

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/scoped_fd.h"
#include "monitors/anr/heartbeat.h"
#include "monitors/anr/proc_beat_source.h"
#include "tools/attach/attach_options.h"
#include "tools/attach/attach_recording.h"
#include "tools/attach/attached_thread.h"
#include "tools/attach/target_modules.h"
#include "tools/attach/target_state.h"
#include "tools/run/interruption.h"
#include "tools/run/run_feed.h"

namespace jankbox::tools {

class AttachSession {
 public:
  // All outlive it. REQUIRES that RecordedProcess is the process of `options`; `process_fd` is
  // readable once that has ended.
  AttachSession(const AttachOptions& options, AttachRecording* recording, RunFeed* feed,
                Interruption* interruption, std::string process, ScopedFd process_fd);

  // kPermissionDenied or kUnsupported if the kernel does not permit what is needed.
  Status Start();

  // Returns once the watch is over. kPermissionDenied if the process runs a program now that this
  // one may not watch.
  Status Run();

  // What was not seen, for the user; in the order of weight.
  std::string Unseen() const;

 private:
  void NoteUnseen(const WaitWatch& waits);
  Status AddThread(int32_t tid, const std::string& name);
  void AddWantedThreads();
  bool IsWanted(int32_t tid, const std::string& name) const;
  void RefreshCode(bool at_once);
  void ReadState();
  void TellMissing() const;
  void TakeProgram(uint64_t now_ns);
  Status RenewThreads(uint64_t now_ns);
  void Drop(std::unique_ptr<AttachedThread>* thread);
  void FinishAll();
  void EverySecond(uint64_t now_ns);
  uint64_t LookAtAll(uint64_t now_ns);
  std::vector<Hold> TakeHolds(uint64_t now_ns);
  void Wait(uint64_t next_ns);
  bool HasEnded() const;
  void TellWatched(const AttachedThread& thread, bool ended);

  const AttachOptions& options_;
  AttachRecording* const recording_;
  RunFeed* const feed_;
  Interruption* const interruption_;
  std::string process_;
  const ScopedFd process_fd_;
  TargetModules modules_;
  TargetFreezer freezer_;
  std::shared_ptr<const TargetCode> code_;
  std::array<std::unique_ptr<AttachedThread>, kMaxWatchedThreads> threads_;
  ProcBeatSource beats_;
  Heartbeat heartbeat_;
  uint64_t looked_ns_ = 0;
  uint64_t stopped_since_ns_ = 0;  // the process is stopped or frozen; 0: it is not
  uint64_t next_second_ns_ = 0;
  uint64_t load_until_ns_ = 0;  // a new program is being loaded
  uint64_t losses_ = 0;         // of threads that are gone
  uint64_t unsure_ = 0;         // of them
  bool told_full_ = false;
  const char* unseen_waits_ = "";  // of a thread without breakpoints
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ATTACH_ATTACH_SESSION_H_
