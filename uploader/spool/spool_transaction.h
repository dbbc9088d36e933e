// One access to a spool folder under its lock: loads the accounts, scans the folder, makes the one
// agree with the other, and writes back what the caller changed. A fate is written down before the
// file goes, so a kill at any instant neither loses a report from the accounts nor counts it twice.
// Threads: any but the app's own; blocks on the disk.
#ifndef JANKBOX_UPLOADER_SPOOL_SPOOL_TRANSACTION_H_
#define JANKBOX_UPLOADER_SPOOL_SPOOL_TRANSACTION_H_

#include <cstdint>
#include <string>

#include "base/status.h"
#include "uploader/spool/spool_eviction.h"
#include "uploader/spool/spool_folder.h"
#include "uploader/spool/spool_lock.h"
#include "uploader/spool/spool_state.h"

namespace jankbox {

class SpoolTransaction {
 public:
  // kBusy if another process held the lock for 5 s, or this one is out of descriptors or memory.
  static Result<SpoolTransaction> Begin(const std::string& directory, const SpoolInstant& now);

  SpoolState& state() { return state_; }
  const SpoolFolder& folder() const { return folder_; }

  // The kept record of that id, or null.
  SpoolRecord* Find(const std::string& id);

  // Gives a kept record its fate: counted now, the file removed (renamed if it is corrupt or
  // poison) by Commit().
  void Settle(SpoolRecord* record, SpoolFate fate);

  // Settles what must go for `demand` (its in_flight and quarantined numbers are filled in here);
  // false if it cannot fit. Adds the number of reports given up to `*given_up`.
  bool MakeRoom(const SpoolLimits& limits, SpoolDemand demand, uint64_t* given_up);

  // Enters a report that was renamed into place since Begin().
  void Register(const std::string& id);

  // state() was changed by hand.
  void MarkChanged() { changed_ = true; }

  // Writes the accounts if they changed, then removes what is settled. Fates survive a power cut,
  // other changes only if `durable`.
  Status Commit(bool durable);

 private:
  SpoolTransaction(SpoolLock lock, std::string directory, const SpoolInstant& now);

  void Reconcile();
  void Enter(const FoundReport& found, uint64_t age_ns);
  void Count(SpoolFate fate);
  void TrimQuarantine(const SpoolLimits& limits, bool all);
  void RemoveSettledFiles();

  SpoolLock lock_;
  std::string directory_;
  SpoolInstant now_;
  SpoolState state_;
  SpoolFolder folder_;
  bool changed_ = false;
  bool fates_changed_ = false;
};

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_SPOOL_SPOOL_TRANSACTION_H_
