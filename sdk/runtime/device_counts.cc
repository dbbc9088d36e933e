#include "sdk/runtime/device_counts.h"

#include "base/clock.h"
#include "base/last_error.h"
#include "base/log.h"
#include "diagnosis/seal/count_report.h"
#include "tracer/ring/ring_reader.h"

namespace jankbox {

void DeviceCounts::Open() {
  book_ = std::make_unique<CountBook>(options_.dir);
  if (options_.usage) return;
  const Status forgotten = book_->ForgetUsage(options_.app_name);
  if (!forgotten.ok()) LogWarning("earlier usage is not forgotten: " + forgotten.message());
}

void DeviceCounts::Count(Report* report) {
  NoteUsage();  // in the same write
  CountReport(report, book_.get());
  NoteDay();
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

void DeviceCounts::NoteUsage() {
  if (ring_ == nullptr || book_ == nullptr) return;
  const ProcessUsage usage = UsageOfRing(*ring_->header());
  if (!usage.id.empty()) book_->NoteUsage(usage);
}

// What comes from now on belongs to this day: the watcher asks for a count when it changes.
void DeviceCounts::NoteDay() const {
  if (ring_ != nullptr) ring_->SetUsageDay(RealtimeNs() / (24 * 3600 * kNsPerSecond));
}

void DeviceCounts::CountUsage() {
  if (book_ == nullptr) return;
  NoteUsage();
  const Status written = book_->WriteUsage();
  if (!written.ok()) LogWarning("usage is counted later: " + written.message());
  NoteDay();
}

void DeviceCounts::Reset() {
  const Status reset =
      book_ != nullptr ? book_->Reset() : Status(StatusCode::kUnavailable, "there is no folder");
  if (!reset.ok()) SetLastError("the ids of the counts are not reset: " + reset.message());
}

void DeviceCounts::Close() {
  CountRest();
  if (book_ == nullptr) return;
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
