#include "sdk/runtime/device_counts.h"

#include "base/clock.h"
#include "base/last_error.h"
#include "base/log.h"
#include "diagnosis/seal/count_report.h"
#include "tracer/ring/ring_reader.h"
#include "uploader/policy/upload_pace.h"
#include "uploader/transport/pace_file.h"

namespace jankbox {

void DeviceCounts::Open() {
  book_ = std::make_unique<CountBook>(options_.dir);
  forgets_ = !options_.usage;
  ChangeIds();
}

// What a full disk or another process's lock prevents is tried again with each count.
void DeviceCounts::ChangeIds() {
  if (book_ == nullptr) return;
  if (forgets_) {
    const Status forgotten = book_->ForgetUsage(options_.app_name);
    if (!forgotten.ok()) LogWarning("earlier usage is not forgotten: " + forgotten.message());
    forgets_ = !forgotten.ok();
  }
  if (resets_) {
    const Status reset = book_->Reset();
    if (!reset.ok()) SetLastError("the ids of the counts are not reset yet: " + reset.message());
    resets_ = !reset.ok();
  }
}

void DeviceCounts::Count(Report* report) {
  ChangeIds();
  NoteUsage();  // in the same write
  CountReport(report, book_.get());
  write_at_ns_ = UINT64_MAX;
  NoteDay();
}

void DeviceCounts::CountLater(Report* report) {
  if (book_->unwritten() + 1 >= kMaxLater) return Count(report);
  CountReportLater(report, book_.get());
  if (write_at_ns_ == UINT64_MAX) write_at_ns_ = MonotonicNs() + kLaterNs;
}

void DeviceCounts::WriteLater() {
  write_at_ns_ = UINT64_MAX;
  if (book_ == nullptr) return;
  NoteUsage();
  const Status written = book_->Write();
  if (!written.ok()) LogWarning("incidents are counted later: " + written.message());
  NoteDay();
  SettleWritten();
}

void DeviceCounts::Settle(const std::string& id) {
  if (unsettled_.size() >= CountBook::kMaxUnwritten) unsettled_.erase(unsettled_.begin());
  unsettled_.push_back(id);
  SettleWritten();
}

// In case the process is killed before the folder takes it.
void DeviceCounts::SettleWritten() {
  if (book_ != nullptr && !book_->all_written()) return;
  for (const std::string& settled : unsettled_) {
    if (ring_ != nullptr) ring_->uncounted().Clear(settled);
  }
  unsettled_.clear();
  if (book_ != nullptr) book_->Settle();
}

void DeviceCounts::CountRest() {
  if (ring_ == nullptr || book_ == nullptr) return;
  while (const auto together = ring_->uncounted().TakeTogether()) {
    CountTogether(*together, options_.app_version, book_.get());
    Settle(together->id);
  }
}

void DeviceCounts::Forget() {
  usage_forgotten_ = true;
  book_.reset();  // without it, what is settled is forgotten
  SettleWritten();
  if (ring_ != nullptr) {
    while (const auto together = ring_->uncounted().TakeTogether()) Settle(together->id);
    ring_->EndUsage();
  }
}

void DeviceCounts::NoteUsage() {
  if (ring_ == nullptr || book_ == nullptr || usage_forgotten_) return;
  const ProcessUsage usage = UsageOfRing(*ring_->header());
  if (!usage.id.empty()) book_->NoteUsage(usage);
}

// What comes from now on belongs to this day: the watcher asks for a count when it changes.
void DeviceCounts::NoteDay() const {
  if (ring_ == nullptr || !book_->all_written()) return;
  ring_->SetUsageDay(RealtimeNs() / (24 * 3600 * kNsPerSecond));
}

void DeviceCounts::CountUsage() {
  if (book_ == nullptr) return;
  ChangeIds();
  NoteUsage();
  const Status written = book_->WriteUsage();
  if (written.ok()) {
    NoteDay();
  } else {
    LogWarning("usage is counted later: " + written.message());
  }
}

void DeviceCounts::Reset() {
  CountUsage();  // until now under the ids that it had
  resets_ = true;
  if (book_ == nullptr) SetLastError("the ids of the counts are not reset: there is no folder");
  ChangeIds();
}

bool DeviceCounts::MaySendUsage() const {
  if (UsageAllowance(LoadUploadPace(options_.dir), RealtimeNs() / kNsPerMs) == 0) return false;
  const Result<ReportCountBook> book = CountBook::Read(options_.dir);
  return book.ok() && (HasUnsentUsage(book.value()) || !book->ended.epoch.empty());
}

void DeviceCounts::Close() {
  CountRest();
  if (book_ == nullptr) return;
  ChangeIds();
  NoteUsage();
  if (!book_->Close().ok()) return;
  const std::string usage = ring_ == nullptr ? "" : UsageOf(*ring_->header()).id;
  if (unsettled_.empty() && usage.empty()) return;
  if (!usage.empty()) {
    ring_->EndUsage();
    book_->EndUsage(usage);
  }
  SettleWritten();
  (void)book_->Close().ok();  // forgets their ids
}

}  // namespace jankbox
