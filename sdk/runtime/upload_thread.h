// Jankbox's uploading thread: drains the spool to the collector when a report was sealed, and again
// after a back-off while the collector cannot be reached. Exists only where an upload URL was
// given.
#ifndef JANKBOX_SDK_RUNTIME_UPLOAD_THREAD_H_
#define JANKBOX_SDK_RUNTIME_UPLOAD_THREAD_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/mutex.h"
#include "base/own_thread.h"
#include "sdk/api/options.h"
#include "uploader/transport/upload_drain.h"

namespace jankbox {

// When to try again after a drain that ended at `now_ns`, on the same clock; UINT64_MAX: not before
// the next report.
uint64_t RetryAtNs(const DrainSummary& summary, uint64_t now_ns);

class UploadThread {
 public:
  // Sends what can be sent, ends soon after `cancelled` is set, and returns as RetryAtNs().
  using Drain = std::function<uint64_t(const std::atomic<bool>* cancelled)>;

  explicit UploadThread(const Options& options);
  explicit UploadThread(Drain drain) : drain_(std::move(drain)) {}

  bool Start();          // false if the system allows no further thread
  void Wake();           // a report was sealed; any thread
  void WakeForCounts();  // an incident was only counted: sent soon enough; any thread
  void WakeForUsage();   // the same, and a stop does not wait for it
  bool WaitIdle(uint64_t deadline_ns);  // until what was sealed so far was tried once
  void CancelDrain();                   // the one that runs, if any; any thread
  uint64_t cpu_ns() const { return cpu_clock_.Read(); }  // so far; any thread
  // Lets a drain that was asked for go on, but no longer than until about the deadline. False: its
  // thread has not ended (OwnThread::Join), and this object must stay.
  bool Stop(uint64_t deadline_ns);

 private:
  void Run();
  // Waits until something was asked for or is to be tried again; false: the thread is to stop.
  bool WaitForWork(uint64_t retry_at_ns) EXCLUDES(mutex_);

  const Drain drain_;
  Mutex mutex_;
  CondVar changed_;
  bool wanted_ GUARDED_BY(mutex_) = true;  // an earlier process may have left reports
  bool busy_ GUARDED_BY(mutex_) = false;
  bool stop_ GUARDED_BY(mutex_) = false;
  uint64_t counts_at_ns_ GUARDED_BY(mutex_) = UINT64_MAX;  // when counts go without a report
  bool counts_at_stop_ GUARDED_BY(mutex_) = false;         // and they go before a stop
  std::atomic<bool> cancelled_{false};
  ThreadCpuClock cpu_clock_;
  OwnThread thread_;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_UPLOAD_THREAD_H_
