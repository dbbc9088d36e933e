// One thread of the recorded process: its waits become dispatches in the ring, and what the watcher
// of a process keeps for its own thread looks at them (sdk/runtime/watched_thread). The watching
// thread's.
#ifndef JANKBOX_TOOLS_ATTACH_ATTACHED_THREAD_H_
#define JANKBOX_TOOLS_ATTACH_ATTACHED_THREAD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/recorded_process.h"
#include "sdk/runtime/watched_thread.h"
#include "tools/attach/wait_watch.h"
#include "tracer/clock/tick_clock.h"
#include "tracer/ring/foreign_thread.h"

namespace jankbox::tools {

class AttachedThread final : public DispatchSink {
 public:
  struct Place {
    const Options* options = nullptr;
    RingFile* ring = nullptr;
    size_t index = 0;  // in the ring
    Refusals* refusals = nullptr;
    WatchedThread::Seal seal;
  };

  // What `place` points to outlives it. kPermissionDenied or kUnsupported if the kernel does not
  // permit perf.
  static Result<std::unique_ptr<AttachedThread>> Open(const Place& place, int32_t tid,
                                                      std::string name,
                                                      std::shared_ptr<const TargetCode> code);

  // Passes on what happened, and looks at the thread at `now_ns`, up to which `holds` are known.
  void Look(uint64_t now_ns, const TickConverter& clock, std::span<const Hold> holds);
  // Once a second.
  void CheckThread() { thread_->CheckThread(); }
  // No more looks: what is growing is finished. If the process has ended, and it is not known how,
  // a message that was not a lag yet is taken for its orderly end.
  void Finish(uint64_t now_ns, const TickConverter& clock, bool ended);

  void SetCode(std::shared_ptr<const TargetCode> code) { waits_->SetCode(std::move(code)); }

  // perf says that the thread is gone: it has ended, the process runs another program that another
  // thread started, or one that has more rights. Which it is shows in /proc a little later.
  void NoteHangUp(uint64_t now_ns) { hung_up_ns_ = now_ns; }
  bool hung_up() const { return hung_up_ns_ != 0; }
  // It is not what was followed any more.
  bool IsOver(uint64_t now_ns) const {
    return waits_->executed() || (hung_up() && now_ns >= hung_up_ns_ + kHangUpNs);
  }
  // What it was doing is no dispatch. No more looks.
  void Forget(uint64_t now_ns, const TickConverter& clock);

  uint64_t NextNs(uint64_t now_ns) const;
  int32_t tid() const { return tid_; }
  // As the kernel has it.
  const std::string& thread_name() const { return name_; }
  bool IsGone() const { return thread_->IsGone(); }
  int fd() const { return waits_->fd(); }
  const WaitWatch& waits() const { return *waits_; }
  // "main (glib)"; "" until its loop is known.
  std::string NameOfLoop() const;

  // The text of a "watched:" message (tools/run/watched_log).
  std::string WatchedText(const std::string& process, bool ended) const;

  void OnBegin(uint64_t ns) override;
  void OnEnd(uint64_t ns) override;
  void OnForget(uint64_t ns) override;

 private:
  // Time for the other threads of a process that ends, and for its parent to hear of it.
  static constexpr uint64_t kHangUpNs = 100 * kNsPerMs;

  AttachedThread(const Place& place, int32_t tid, std::string name);
  std::string name() const { return tid_ == RecordedProcess::pid() ? "main" : name_; }

  const uint64_t lag_ns_;
  RingFile* const ring_;
  const size_t index_;
  const int32_t tid_;
  const std::string name_;
  TickConverter clock_;
  ForeignThread recorded_;
  std::unique_ptr<WaitWatch> waits_;
  const char* told_loop_ = "";
  uint64_t hung_up_ns_ = 0;                // 0: it has not
  std::unique_ptr<WatchedThread> thread_;  // of the slot that `recorded_` took
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ATTACH_ATTACHED_THREAD_H_
