// Sends a run's reports while the program runs and, bounded in time, after its end: the drain of
// `jankbox run --upload`. Its one thread touches nothing of the program's. It reads a report
// before it sends it, since a sent report disappears from the folder. All calls from one thread.
#ifndef JANKBOX_TOOLS_RUN_REPORT_UPLOAD_H_
#define JANKBOX_TOOLS_RUN_REPORT_UPLOAD_H_

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/scoped_fd.h"
#include "report/report.pb.h"
#include "uploader/spool/spool.h"
#include "uploader/transport/transport.h"
#include "uploader/transport/upload_drain.h"

namespace jankbox::tools {

class ReportUpload {
 public:
  // `spool` outlives it. REQUIRES that this process forks no more.
  ReportUpload(Spool* spool, std::string url);
  // Waits for the thread: REQUIRES that BeginFinal() was called. At most until its deadline, but
  // for the name look-up of the server.
  ~ReportUpload();
  ReportUpload(const ReportUpload&) = delete;
  ReportUpload& operator=(const ReportUpload&) = delete;

  // Readable after anything below may have changed; Clear() makes it unreadable again.
  int fd() const { return changed_fd_.get(); }
  void Clear();

  // Something may be there to send.
  void Wake();
  // One last drain, then the thread ends.
  void BeginFinal(uint64_t deadline_monotonic_ns);
  bool ended() const;

  // Sent and dropped by all drains so far, what the last one kept, and why.
  DrainSummary total() const;
  // Reports that were about to be sent since the last call, and are newer than this object.
  std::vector<proto::Report> TakeSeen();

 private:
  class WitnessedTransport;

  void Run();
  // Waits for something to send, at most until then; returns the final drain's deadline once that
  // was asked for, else 0.
  uint64_t WaitForWork(uint64_t retry_at_ns) EXCLUDES(mutex_);
  // Returns the time of the next automatic attempt (CLOCK_MONOTONIC); UINT64_MAX: none.
  uint64_t Drain(uint64_t deadline_monotonic_ns, bool is_final);
  // `summary` of the drain that began when `before` was the sum.
  void Publish(const DrainSummary& before, DrainSummary summary);
  void Remember(int fd, uint64_t size_bytes);
  void Notify();

  Spool* const spool_;
  const std::string url_;
  const uint64_t started_realtime_ns_;
  ScopedFd changed_fd_;

  mutable Mutex mutex_;
  CondVar wanted_changed_;
  bool wanted_ GUARDED_BY(mutex_) = true;  // what earlier runs left
  uint64_t final_deadline_ns_ GUARDED_BY(mutex_) = 0;
  bool ended_ GUARDED_BY(mutex_) = false;
  DrainSummary total_ GUARDED_BY(mutex_);
  std::vector<proto::Report> seen_ GUARDED_BY(mutex_);

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_REPORT_UPLOAD_H_
