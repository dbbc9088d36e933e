// Jankbox's uploading thread: drains the spool to the collector when a report was sealed, and again
// after a back-off while the collector cannot be reached. Exists only where an upload URL was
// given.
#ifndef JANKBOX_SDK_RUNTIME_UPLOAD_THREAD_H_
#define JANKBOX_SDK_RUNTIME_UPLOAD_THREAD_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "sdk/api/options.h"

namespace jankbox {

class UploadThread {
 public:
  explicit UploadThread(const Options& options) : options_(options) {}

  void Start();
  void Wake();                          // a report was sealed; any thread
  bool WaitIdle(uint64_t deadline_ns);  // until what was sealed so far was tried once
  // Lets a drain that was asked for go on, but no longer than until about the deadline.
  void Stop(uint64_t deadline_ns);

 private:
  void Run();
  uint64_t
  DrainOnce();  // returns when to try again (CLOCK_MONOTONIC ns); UINT64_MAX: not by itself

  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool wanted_ = true;  // guarded by mutex_: an earlier process may have left reports
  bool busy_ = false;   // guarded by mutex_
  bool stop_ = false;   // guarded by mutex_
  std::atomic<bool> cancelled_{false};
  std::thread thread_;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_UPLOAD_THREAD_H_
