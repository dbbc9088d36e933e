// The counts of a report folder in its files .counts and .counts.new (docs/formats/counts.md):
// shared by every process of the folder, exact through kills and restarts, and begun again in a
// copy of the folder. An object belongs to one thread at a time, never the app's own; it blocks on
// the disk.
#ifndef JANKBOX_UPLOADER_COUNTS_COUNT_BOOK_H_
#define JANKBOX_UPLOADER_COUNTS_COUNT_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "report/report.h"
#include "uploader/counts/counters.h"
#include "uploader/spool/spool_state.h"

namespace jankbox {

// What a server says of the counts that it was sent.
struct CountsAnswer {
  uint64_t seq = 0;     // the highest one that it has of the epoch
  bool forked = false;  // its numbers of the epoch are of another device
  bool resend = false;  // it lacks counters that were acknowledged once
};

class CountBook {
 public:
  using Clock = std::function<SpoolInstant()>;

  static constexpr uint64_t kSyncEveryNs = 60'000'000'000;  // a power cut takes no more than that
  static constexpr size_t kMaxUnwritten = 256;

  explicit CountBook(std::string folder, Clock clock = KernelInstant);

  // Counts what `incident` has, unless its id was counted before. If the folder takes no file now,
  // it is counted with the next one.
  Status Count(const CountedIncident& incident);

  // False while the folder does not take what was counted.
  bool all_written() const { return unwritten_.empty(); }

  // The rings of what was counted through this object so far have no note of it any more: the next
  // write forgets the ids.
  void Settle();

  // Writes what is left and makes it survive a power cut, if this object has counted anything.
  Status Close();

  // What the server does not have yet; without counters if there is nothing. It survives a power
  // cut from now on: what the server has seen never comes back with other numbers.
  Result<ReportCounts> Unsent();

  // The server's answer to `sent`. If another device counts in this epoch, a new one begins.
  Status Acknowledge(const ReportCounts& sent, const CountsAnswer& answer);

  // For readers: the counts as they are now, without the lock and without changing anything.
  // kNotFound if there are none; kCorrupt.
  static Result<ReportCountBook> Read(const std::string& folder);

 private:
  struct Loaded {
    ReportCountBook book;
    bool synced = false;   // the file survives a power cut
    bool changed = false;  // it is not what a file has
  };
  struct Outcome {
    bool changed = false;
    bool durable = false;  // the counts as they are now are to survive a power cut
  };
  using Edit = std::function<Outcome(ReportCountBook*)>;

  // Runs `edit` over the counts as of now, under the lock, and stores them if that is needed.
  Status Change(const Edit& edit);
  Loaded Load(const SpoolInstant& now) const;
  Status Store(const SpoolInstant& now, bool durable, ReportCountBook* book) const;
  bool AddUnwritten(ReportCountBook* book);
  void WasWritten(const Status& status);

  const std::string folder_;
  const Clock clock_;
  std::vector<CountedIncident> unwritten_;
  std::vector<std::string> counted_;  // ids that a ring may still have
  std::vector<std::string> settled_;  // and those that none has
  uint64_t lost_ = 0;                 // incidents that were too many for unwritten_
};

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_COUNTS_COUNT_BOOK_H_
