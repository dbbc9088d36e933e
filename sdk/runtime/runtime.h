// The object graph between jankbox_start and jankbox_stop, and its lifecycle. One at a time in a
// process. Start() returns quickly: it maps the ring and makes one thread, which makes the others;
// everything that may be slow happens on those.
#ifndef JANKBOX_SDK_RUNTIME_RUNTIME_H_
#define JANKBOX_SDK_RUNTIME_RUNTIME_H_

#include <atomic>
#include <memory>
#include <string>

#include "monitors/incident/refusals.h"
#include "sdk/api/options.h"
#include "sdk/runtime/crash_loop.h"
#include "sdk/runtime/sealer.h"
#include "sdk/runtime/upload_thread.h"
#include "sdk/runtime/watcher.h"

namespace jankbox {

class Runtime {
 public:
  // Starts recording with `options`.
  static Result<std::unique_ptr<Runtime>> Start(const Options& options);

  // Stops recording; waits for reports that are being sealed until `deadline_ns`. The ring stays
  // mapped: threads of the app may be on their way out of it. `process_exits`: exit() runs. False:
  // a thread of Jankbox's has not ended by then, and uses this object: it must never be destroyed.
  bool Stop(uint64_t deadline_ns, bool process_exits);

  // Changes the thresholds that `options` names. Any thread.
  Status Configure(const jankbox_options* options);

  // Seals the window up to now, asked for by hand.
  Status Snapshot(const std::string& reason);

  // An incident that the app itself found, of the calling thread.
  Status ReportIncident(const std::string& what, uint64_t begin_ns, uint64_t end_ns);

  bool Flush(uint64_t deadline_ns);

  // Other random ids for what is counted on this device. Any thread.
  void ResetIds();

  // The user agreed to uploads, or declined them (UploadDeclined()).
  void ApplyConsent();

  // The network changed: what waits to be uploaded is tried.
  void TryUploads();

  int pid() const { return pid_; }

 private:
  Runtime(const Options& options, std::unique_ptr<RingFile> ring);
  void ConnectUsage();
  void GoOn();
  void End();
  void RemoveRing();
  void StartSealer();  // watcher's thread only
  void AddHooks() EXCLUDES(hooks_mutex_);
  void RemoveHooks() EXCLUDES(hooks_mutex_);
  ReportSource MakeSource(const SealRequest& request);
  uint64_t OwnCpuNs() const;  // of Jankbox's threads so far
  Status SealByHand(ReportKind kind, const std::string& what, uint64_t begin_ns, uint64_t end_ns);
  void EnqueueOrForget(SealRequest request);
  void ForgetNote(const std::string& id, size_t index);
  void OnSealed(const SealRequest& request, bool sealed);

  const Options options_;
  const int pid_;
  std::unique_ptr<RingFile> ring_;
  RingReader reader_;
  CrashLoop crash_loop_;
  Refusals refusals_;
  std::atomic<uint64_t> start_us_{0};
  Mutex hooks_mutex_;
  bool hooks_ended_ GUARDED_BY(hooks_mutex_) = false;
  std::vector<ModuleHooks> hooks_at_stop_;  // what was hooked before the stop ended it
  std::atomic<bool> hooks_stopped_{false};  // and that is the list
  std::atomic<uint64_t> stop_by_ns_{0};
  std::atomic<bool> ending_{false};
  std::atomic<bool> ring_removed_{false};
  bool parts_ended_ = false;  // this and the next: of whichever thread was in End()
  bool ring_kept_ = false;
  std::unique_ptr<KernelRecorder> kernel_;  // outlives watcher and sealer
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<Sealer> sealer_;
  std::unique_ptr<UploadThread> upload_;  // null without upload_url
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_RUNTIME_H_
