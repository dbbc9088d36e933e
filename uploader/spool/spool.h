// The durable queue of sealed reports (decision 9): one folder, shared by every process of the user
// that is given it. Limits apply before each write; the accounts stay exact through kills, restarts
// and clocks that are set. docs/formats/spool.md describes the folder. THREAD-SAFE: the state is
// the folder's, and a kernel lock guards it. Threads: any but the app's own; blocks on the disk.
#ifndef JANKBOX_UPLOADER_SPOOL_SPOOL_H_
#define JANKBOX_UPLOADER_SPOOL_SPOOL_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/scoped_fd.h"
#include "base/sealed_file.h"
#include "base/status.h"
#include "uploader/spool/spool_eviction.h"
#include "uploader/spool/spool_state.h"
#include "uploader/spool/spool_transaction.h"
#include "uploader/spool/spool_writer.h"

namespace jankbox {

struct SpoolEntry {
  std::string id;
  std::string path;
  FileIdentity file;  // size and time of this revision
  uint64_t age_ns = 0;
};

// written == sent + kept + dropped().
struct SpoolCounts {
  uint64_t written = 0;
  uint64_t sent = 0;
  uint64_t kept = 0;
  uint64_t not_written = 0;  // beside: refused by the limits before a byte was written
  std::array<uint64_t, kSpoolFates> fates{};

  uint64_t dropped() const;  // all reasons
};

class Spool {
 public:
  using Clock = std::function<SpoolInstant()>;

  // Makes the folder (0700), proves with a file that it can be written, and sweeps what dead
  // processes left; where the process is out of descriptors or memory, the first report proves it.
  // kNoSpace below the free-space floor, kPermissionDenied if Jankbox may not write.
  static Result<Spool> Open(const std::string& directory, const SpoolLimits& limits = {},
                            Clock clock = KernelInstant);

  const std::string& directory() const { return directory_; }
  const SpoolLimits& limits() const { return limits_; }

  // Makes room for a report of about `expected_bytes`, giving up the oldest if it must, and
  // opens it. An earlier revision of `id` counts as replaced. kNoSpace if the limits cannot
  // be met. REQUIRES IsUuid(id).
  Result<SpoolWriter> NewReport(const std::string& id, uint64_t expected_bytes);

  // The kept reports, oldest first. Too old ones are dropped here too.
  Result<std::vector<SpoolEntry>> List();

  // Opens a report to send it. Counts an attempt: the third that never ends (the process dies in
  // it) is the last. kNotFound if the report is gone or replaced, kCorrupt if it was
  // quarantined just now.
  Result<ScopedFd> BeginUpload(const SpoolEntry& entry);
  // The attempt is over and the report stays.
  Status EndUpload(const SpoolEntry& entry);
  // Acknowledged: removes it, unless a later revision has taken its place.
  Status MarkSent(const SpoolEntry& entry);
  // Gives it up. Corrupt and poison ones are renamed to <id>.bad, at most four.
  Status Drop(const SpoolEntry& entry, SpoolFate why);

  // Opted out: removes every report, quarantined and half-written ones too, and the counts: what
  // happens later is counted in an epoch of its own.
  Status Wipe();

  Result<SpoolCounts> Counts();

  // Reports given up or refused by the limits through this object.
  uint64_t given_up_here() const { return given_up_here_->load(std::memory_order_relaxed); }

 private:
  Spool(std::string directory, const SpoolLimits& limits, Clock clock);

  Status CheckFolder() const;
  Result<SpoolTransaction> Look();
  bool MakeRoom(SpoolTransaction* look, SpoolDemand demand);
  Status NoRoom(const SpoolDemand& demand) const;
  Status Reserve(const std::string& id, int fd, uint64_t reserved_bytes, uint64_t more_bytes);
  Status Seal(const std::string& id, SealedFile* file);
  Status Settle(const SpoolEntry& entry, SpoolFate fate);

  std::string directory_;
  SpoolLimits limits_;
  Clock clock_;
  std::unique_ptr<std::atomic<uint64_t>> given_up_here_;
};

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_SPOOL_SPOOL_H_
