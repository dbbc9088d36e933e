// What the sealing thread counts on this device: from the notes in the ring into the report
// folder's book (uploader/counts), so that neither a kill nor a full disk takes an incident. A disk
// that is full at the stop takes the usage of up to an hour. Sealing thread, and after it the
// thread that stops; blocks on the disk.
#ifndef JANKBOX_SDK_RUNTIME_DEVICE_COUNTS_H_
#define JANKBOX_SDK_RUNTIME_DEVICE_COUNTS_H_

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "report/report.h"
#include "sdk/api/options.h"
#include "tracer/ring/ring_file.h"
#include "uploader/counts/count_book.h"

namespace jankbox {

class DeviceCounts {
 public:
  // Counted later at most: each has a note in the ring.
  static constexpr size_t kMaxLater = 21;
  static constexpr uint64_t kLaterNs = kNsPerSecond;

  explicit DeviceCounts(const Options& options) : options_(options) {}

  // The ring with the notes. It outlives this object. Before anything else, or never.
  void NoteIn(RingFile* ring) { ring_ = ring; }

  // The report folder is there. Without it nothing is counted.
  void Open();

  // Counts the incident of `report` if it is over, and how much the app was used so far.
  // REQUIRES Open().
  void Count(Report* report);
  // The same, written with the next count, or when WriteLater() is called, which is due at
  // WriteAtNs() (CLOCK_MONOTONIC; UINT64_MAX: there is nothing). Until then the ring has it.
  void CountLater(Report* report);
  uint64_t WriteAtNs() const { return write_at_ns_; }
  void WriteLater();
  // `id` is counted as far as that was possible.
  void Settle(const std::string& id);
  // What the ring has about incidents that are counted together.
  void CountRest();
  void CountUsage();
  // Other random ids from now on, or once the folder takes them.
  void Reset();
  // Whether an upload now would take usage along.
  bool MaySendUsage() const;
  // The user declined: what was counted and what is not counted yet is forgotten, and the usage of
  // this process for good. Until the next Open() nothing is counted.
  void Forget();
  // Nothing more is counted.
  void Close();

 private:
  // The ring forgets what is counted, unless it is not written yet.
  void SettleWritten();
  void NoteUsage();
  void NoteDay() const;
  void ChangeIds();

  const Options& options_;
  RingFile* ring_ = nullptr;
  std::unique_ptr<CountBook> book_;
  std::vector<std::string> unsettled_;  // ids that the ring still has
  uint64_t write_at_ns_ = UINT64_MAX;   // what is counted later
  bool forgets_ = false;                // the app's earlier usage is still to be forgotten
  bool resets_ = false;                 // the ids are still to be reset
  bool usage_forgotten_ = false;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_DEVICE_COUNTS_H_
