// Rings whose process is gone: decides whether it died while its UI thread was blocked, or ended
// without closing its ring, seals a report that says so, once, and removes the ring (decision 2).
// Idempotent: killed in the middle and run again it writes the same report under the same id.
// Sealing thread and programs; touches the disk.
#ifndef JANKBOX_DIAGNOSIS_SEAL_RECOVERY_H_
#define JANKBOX_DIAGNOSIS_SEAL_RECOVERY_H_

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "diagnosis/seal/admit_report.h"
#include "diagnosis/seal/process_end.h"
#include "uploader/spool/spool.h"

namespace jankbox {

// The ids of the reports that were sealed for rings of `spool_dir`. A ring that is damaged is set
// aside (*.corrupt) and passed over. `admit`, unless it is empty, is asked before each. `child`:
// the end of a process of these, if the caller is its parent. No further ring is begun once
// `stopping` is set; null: never.
Result<std::vector<std::string>> RecoverOrphanRings(const std::string& spool_dir, Spool* spool,
                                                    const AdmitReport& admit = {},
                                                    const std::optional<ChildEnd>& child = {},
                                                    const std::atomic<bool>* stopping = nullptr);

// The same with a spool of default limits of its own.
Result<std::vector<std::string>> RecoverOrphanRings(const std::string& spool_dir);

// What became of the rings of this user's dead processes.
struct CollectedRings {
  std::vector<std::string> reports;  // sealed: their files
  uint64_t removed = 0;              // rings with nothing left to tell
  uint64_t dropped = 0;              // removed unread: too old, or damaged
  uint64_t bytes = 0;                // that all of these took
  uint64_t kept = 0;                 // cannot be recovered now; tried again
  uint64_t living = 0;
};

inline constexpr uint64_t kMaxDeadRingAgeNs = 7 * 24 * 3600 * kNsPerSecond;

// Recovers the rings of all processes of this user, each into the reports folder that is named in
// its header. One whose folder is gone, or cannot be written, is kept for kMaxDeadRingAgeNs after
// its last sign of life. `stopping` as above.
CollectedRings CollectDeadRings(const std::atomic<bool>* stopping = nullptr);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_RECOVERY_H_
