// The counts of a report folder in its files .counts and .counts.new (docs/formats/counts.md):
// incidents and usage, shared by every process of the folder, exact through kills and restarts, and
// begun again in a copy of the folder. An object belongs to one thread at a time, never the app's
// own; it blocks on the disk.
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
#include "uploader/counts/usage.h"
#include "uploader/spool/spool_state.h"

namespace jankbox {

// What a server says of the counts that it was sent.
struct CountsAnswer {
  uint64_t seq = 0;  // the highest one that it has of the epoch
  uint64_t usage_seq = 0;
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
  // The same with the next write, and that write.
  void CountLater(const CountedIncident& incident);
  Status Write();

  // How much a recording was used so far. Written with the next change.
  void NoteUsage(const ProcessUsage& usage);
  // Writes what was noted, without waiting for the disk: a power cut may take it.
  Status WriteUsage();
  // Of a recording whose ring is about to be gone. Settle() is about these, too.
  void CountEndedUsage(const ProcessUsage& usage);
  void EndUsage(const std::string& id) { counted_.push_back(id); }

  // Drops the usage of `app`, which wants none, and under other ids than those that it had.
  Status ForgetUsage(const std::string& app);

  // Gives the folder other random ids. What was counted is sent under the ids that it was counted
  // under.
  Status Reset();

  // False while the folder does not take what was counted.
  bool all_written() const { return unwritten_.empty(); }
  size_t unwritten() const { return unwritten_.size(); }

  // The rings of what was counted through this object so far have no note of it any more: the next
  // write forgets the ids.
  void Settle();
  // They keep their notes: the ids stay.
  void Keep() { counted_.clear(); }

  // Writes what is left and makes it survive a power cut, if this object has counted anything.
  Status Close();

  // What the server does not have yet: of an epoch that was reset, as long as there is any, then of
  // this one. Without counters and usage if there is nothing. Usage of this epoch is there as far
  // as a message of it alone has `usage_bytes`. It survives a power cut from now on: what the
  // server has seen never comes back with other numbers.
  Result<ReportCounts> Unsent(size_t usage_bytes = SIZE_MAX);

  // The server's answer to `sent`. If another device counts in this epoch, a new one begins.
  Status Acknowledge(const ReportCounts& sent, const CountsAnswer& answer);

  // For readers: the counts as they are now, without the lock and without changing anything.
  // kNotFound if there are none; kCorrupt; kBusy: the process is out of descriptors.
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
    bool lazy = false;     // unless that takes a wait for the disk
  };
  // Of one recording: what it has, and what it had when the book took it last.
  struct NotedUsage {
    ProcessUsage usage;
    ReportUsage written;
  };
  using Edit = std::function<Outcome(ReportCountBook*)>;

  // Runs `edit` over the counts as of now, under the lock, and stores them if that is needed.
  Status Change(const Edit& edit);
  Result<Loaded> Load(const SpoolInstant& now) const;
  Status Store(const SpoolInstant& now, const Outcome& outcome, ReportCountBook* book) const;
  static bool AcknowledgeEnded(const ReportCounts& sent, ReportCountBook* book);
  bool AddUnwritten(ReportCountBook* book);
  bool AddNotedUsage(ReportCountBook* book) const;
  void WasWritten(const Status& status);

  const std::string folder_;
  const Clock clock_;
  std::vector<CountedIncident> unwritten_;
  std::vector<NotedUsage> usage_;
  std::vector<std::string> counted_;  // ids that a ring may still have
  std::vector<std::string> settled_;  // and those that none has
  uint64_t lost_ = 0;                 // incidents that were too many for unwritten_
};

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_COUNTS_COUNT_BOOK_H_
