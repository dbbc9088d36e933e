// The recording of another process, in this one: a ring in memory, the kernel's events, the thread
// that seals reports, and what a report says of its origin. Looks are the caller's: the thread that
// made it.
#ifndef JANKBOX_TOOLS_ATTACH_ATTACH_RECORDING_H_
#define JANKBOX_TOOLS_ATTACH_ATTACH_RECORDING_H_

#include <memory>
#include <string>

#include "base/mutex.h"
#include "sdk/runtime/sealer.h"
#include "tools/attach/wait_watch.h"

namespace jankbox::tools {

class AttachRecording {
 public:
  // Of the RecordedProcess, whose program is called `process`.
  static Result<std::unique_ptr<AttachRecording>> Start(const Options& options,
                                                        const std::string& process);
  ~AttachRecording();

  RingFile* ring() { return ring_.get(); }
  Refusals* refusals() { return &refusals_; }
  const Options& options() const { return options_; }
  KernelRecorder* kernel() { return &kernel_; }
  void Seal(SealRequest request);

  // Reads the clocks again, marks the kernel's events, makes room. Once a second.
  void EverySecond();

  // The modules of the process, from now on.
  void SetCode(std::shared_ptr<const TargetCode> code) EXCLUDES(mutex_);
  // The program that the process runs, from now on.
  void SetProcess(const std::string& process) EXCLUDES(mutex_);
  // A sentence for the reports to come.
  void SetNote(std::string note) EXCLUDES(mutex_);

  TickConverter clock() const EXCLUDES(mutex_);

  // Writes the reports that are asked for, gives everything back. Once.
  void Stop();

 private:
  AttachRecording(const Options& options, std::string process, std::unique_ptr<RingFile> ring);
  jankbox::ReportSource MakeSource(const SealRequest& request) EXCLUDES(mutex_);
  void OnSealed(const SealRequest& request);

  const Options options_;
  const std::unique_ptr<RingFile> ring_;
  const RingReader reader_;
  Refusals refusals_;
  CrashLoop crash_loop_;
  KernelRecorder kernel_;
  ThreadCpuClock cpu_clock_;  // of the thread that looks
  bool stopped_ = false;

  mutable Mutex mutex_;
  TickConverter clock_ GUARDED_BY(mutex_);
  std::shared_ptr<const TargetCode> code_ GUARDED_BY(mutex_);
  std::string process_ GUARDED_BY(mutex_);
  std::string app_name_ GUARDED_BY(mutex_);
  std::string note_ GUARDED_BY(mutex_);
  Sealer sealer_;  // last: its thread uses all of the above
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ATTACH_ATTACH_RECORDING_H_
