// Rings whose process is gone: decides whether it died while its UI thread was blocked, seals a
// report that says so, once, and removes the ring (decision 2). Idempotent: killed in the middle
// and run again it writes the same report under the same id. Sealing thread and programs; touches
// the disk.
#ifndef JANKBOX_DIAGNOSIS_SEAL_RECOVERY_H_
#define JANKBOX_DIAGNOSIS_SEAL_RECOVERY_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "diagnosis/seal/admit_report.h"
#include "uploader/spool/spool.h"

namespace jankbox {

// The ids of the reports that were sealed for rings of `spool_dir`. A ring that is damaged is set
// aside (*.corrupt) and passed over. `admit`, unless it is empty, is asked before each.
Result<std::vector<std::string>> RecoverOrphanRings(const std::string& spool_dir, Spool* spool,
                                                    const AdmitReport& admit = {});

// The same with a spool of default limits of its own.
Result<std::vector<std::string>> RecoverOrphanRings(const std::string& spool_dir);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_RECOVERY_H_
