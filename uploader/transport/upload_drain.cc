#include "uploader/transport/upload_drain.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/sealed_file.h"
#include "report/report_encoder.h"
#include "uploader/counts/count_book.h"
#include "uploader/counts/usage.h"
#include "uploader/policy/retry_after.h"
#include "uploader/policy/upload_outcome.h"
#include "uploader/spool/spool_lock.h"
#include "uploader/transport/pace_file.h"
#include "uploader/transport/upload_reply.h"

namespace jankbox {
namespace {

constexpr char kLockName[] = ".drain";
constexpr char kReportsPath[] = "/api/v1/reports";
constexpr char kCountsPath[] = "/api/v1/counts";
constexpr uint64_t kBusyPollMs = 100;
// A server that fails on reports one after the other is failing, not the reports.
constexpr uint32_t kMaxFailuresInARow = 2;
// Between passes, whatever the jitter says.
constexpr uint64_t kMinWaitMs = 100;

uint64_t RealtimeMs() { return RealtimeNs() / kNsPerMs; }

uint64_t KernelRandom() {
  uint64_t random = MonotonicNs();
  const ScopedFd fd(open("/dev/urandom", O_RDONLY | O_CLOEXEC));
  if (fd.valid() && read(fd.get(), &random, sizeof(random)) < 0) return MonotonicNs();
  return random;
}

// A file without a name that has `bytes`, for a transport to read.
Result<ScopedFd> NewBodyFile(const std::string& directory, const std::string& bytes) {
  std::string path;
  Result<ScopedFd> fd = CreateTemporary(directory, "body", O_RDWR, &path);
  if (!fd.ok()) return fd;
  unlink(path.c_str());
  const Status status = WriteFully(fd->get(), bytes);
  if (!status.ok()) return status;
  return fd;
}

class Drain {
 public:
  Drain(Spool* spool, Transport* transport, const DrainOptions& options,
        const std::function<void(const DrainSummary&)>& progress)
      : spool_(spool), transport_(transport), options_(options), progress_(progress) {
    url_ = options.base_url;
    while (url_.ends_with('/')) url_.pop_back();
  }

  DrainSummary Run();

 private:
  // The consequence for the rest of the pass.
  enum class Step { kNext, kFailed, kStop };

  bool Lock();
  bool Wait(uint64_t ms);
  bool IsCancelled() const;
  uint64_t RemainingMs() const;
  // True if another pass may help.
  bool RunPass();
  // Both have sent nothing then, and say why.
  bool HasBudget(uint64_t size_bytes);
  bool HasTime();
  TransportReply Post(const char* path, const char* content_type, int fd, uint64_t size_bytes);
  Step SendCounts();
  Step SendCounts(const ReportCounts& counts, CountBook* book);
  Step SettleCounts(const ReportCounts& counts, CountBook* book, const TransportReply& reply);
  void NoteError(const TransportReply& reply);
  Step Send(const SpoolEntry& entry);
  Step Settle(const SpoolEntry& entry, const TransportReply& reply);
  Step Drop(const SpoolEntry& entry, SpoolFate why);
  Step Keep(const SpoolEntry& entry, const TransportReply& reply, bool stop);
  void EndPass();

  Spool* spool_;
  Transport* transport_;
  const DrainOptions& options_;
  const std::function<void(const DrainSummary&)>& progress_;
  std::string url_;
  std::optional<SpoolLock> lock_;
  UploadPace pace_;
  DrainSummary summary_;
  // Of the pass.
  bool failed_ = false;
  bool acknowledged_ = false;
  std::optional<uint64_t> retry_after_s_;
};

DrainSummary Drain::Run() {
  if (Lock()) {
    pace_ = LoadUploadPace(spool_->directory());
    FitToClock(&pace_, RealtimeMs());
    uint64_t wait_ms = WaitMs(pace_, RealtimeMs(), options_.on_demand);
    while (wait_ms == 0 || Wait(wait_ms)) {
      wait_ms = 0;
      if (!RunPass()) break;
      wait_ms = std::max(WaitMs(pace_, RealtimeMs(), false), kMinWaitMs);
    }
    summary_.retry_in_ms = std::max(summary_.retry_in_ms, wait_ms);
  }
  Result<std::vector<SpoolEntry>> entries = spool_->List();
  if (entries.ok()) summary_.kept = entries->size();
  return summary_;
}

bool Drain::Lock() {
  const std::string path = JoinPath(spool_->directory(), kLockName);
  for (;;) {
    Result<SpoolLock> lock = SpoolLock::Acquire(path, 0);
    if (lock.ok()) {
      lock_.emplace(std::move(lock.value()));
      summary_.busy = false;
      return true;
    }
    summary_.busy = lock.status().code() == StatusCode::kBusy;
    if (!summary_.busy || !Wait(kBusyPollMs)) {
      summary_.last_error = lock.status().message();
      summary_.retry_in_ms = kBackoffBaseMs;
      return false;
    }
  }
}

bool Drain::IsCancelled() const {
  return options_.cancelled != nullptr && options_.cancelled->load(std::memory_order_relaxed);
}

uint64_t Drain::RemainingMs() const {
  const uint64_t now_ns = MonotonicNs();
  if (now_ns >= options_.deadline_monotonic_ns || IsCancelled()) return 0;
  return (options_.deadline_monotonic_ns - now_ns) / kNsPerMs;
}

bool Drain::Wait(uint64_t ms) { return options_.wait && ms < RemainingMs() && options_.wait(ms); }

bool Drain::RunPass() {
  Result<std::vector<SpoolEntry>> entries = spool_->List();
  if (!entries.ok()) {
    summary_.last_error = entries.status().message();
    summary_.retry_in_ms = kBackoffBaseMs;
    return false;
  }
  summary_.kept = entries->size();
  failed_ = acknowledged_ = false;
  retry_after_s_.reset();
  // First, since they are small and say how often what the reports are examples of.
  const Step counts = SendCounts();
  if (counts == Step::kStop) entries->clear();
  uint32_t failures_in_a_row = counts == Step::kFailed ? 1 : 0;
  for (const SpoolEntry& entry : entries.value()) {
    summary_.retry_in_ms = 0;
    const Step step = Send(entry);
    if (progress_) progress_(summary_);
    failures_in_a_row = step == Step::kFailed ? failures_in_a_row + 1 : 0;
    if (step == Step::kStop || failures_in_a_row == kMaxFailuresInARow) break;
  }
  EndPass();
  return failed_ && !summary_.paused;
}

void Drain::EndPass() {
  const uint64_t now_ms = RealtimeMs();
  if (acknowledged_) NoteSuccess(&pace_);
  if (failed_) {
    NoteFailure(&pace_, now_ms, retry_after_s_, KernelRandom());
    summary_.retry_in_ms = std::max(WaitMs(pace_, now_ms, false), kMinWaitMs);
  }
  const Status stored = StoreUploadPace(spool_->directory(), pace_);
  if (!stored.ok() && summary_.last_error.empty()) summary_.last_error = stored.message();
}

bool Drain::HasBudget(uint64_t size_bytes) {
  const uint64_t now_ms = RealtimeMs();
  if (options_.on_demand ||
      BudgetAllows(pace_, options_.budget, options_.metered, now_ms, size_bytes)) {
    return true;
  }
  summary_.last_error = "the upload budget of the day is used up";
  summary_.retry_in_ms = NextDayMs(now_ms);
  return false;
}

bool Drain::HasTime() {
  if (RemainingMs() != 0) return true;
  if (summary_.last_error.empty()) summary_.last_error = "the upload timed out";
  summary_.retry_in_ms = kBackoffBaseMs;
  return false;
}

TransportReply Drain::Post(const char* path, const char* content_type, int fd,
                           uint64_t size_bytes) {
  // Before the bytes go: a process that dies in the post has spent them.
  NoteSpent(&pace_, RealtimeMs(), size_bytes);
  const Status stored = StoreUploadPace(spool_->directory(), pace_);
  if (!stored.ok()) summary_.last_error = stored.message();
  UploadRequest request{.url = url_ + path, .fd = fd, .size_bytes = size_bytes};
  request.content_type = content_type;
  request.cancelled = options_.cancelled;
  request.connect_timeout_ms = options_.connect_timeout_ms;
  request.total_timeout_ms = static_cast<uint32_t>(
      std::min<uint64_t>(options_.total_timeout_ms, std::max<uint64_t>(RemainingMs(), 1)));
  return transport_->Post(request);
}

// What a reset left to send under the old ids, and then what was counted under the present ones.
Drain::Step Drain::SendCounts() {
  CountBook book(spool_->directory());
  std::string sent_epoch;
  for (;;) {
    uint64_t usage_bytes = options_.on_demand ? UINT64_MAX : UsageAllowance(pace_, RealtimeMs());
    if (!options_.usage) usage_bytes = 0;
    const Result<ReportCounts> counts = book.Unsent(usage_bytes);
    if (!counts.ok()) summary_.last_error = counts.status().message();
    const bool any = counts.ok() && (!counts->counters.empty() || !counts->usage.empty());
    if (!any || counts->epoch == sent_epoch) return Step::kNext;
    sent_epoch = counts->epoch;
    // Usage is not worth a retry: it goes with the next counts, or some hours later.
    summary_.counts_kept = !counts->counters.empty();
    const Step step = SendCounts(counts.value(), &book);
    if (step != Step::kNext || summary_.counts_kept) return step;
  }
}

Drain::Step Drain::SendCounts(const ReportCounts& counts, CountBook* book) {
  if (!options_.on_demand && RealtimeMs() < pace_.counts_not_before_ms) {
    summary_.counts_kept = false;  // until tomorrow, and not again and again until then
    return Step::kNext;
  }
  const std::string bytes = EncodeCounts(counts);
  if (!HasBudget(bytes.size()) || !HasTime()) return Step::kStop;
  const Result<ScopedFd> body = NewBodyFile(spool_->directory(), bytes);
  if (!body.ok()) {
    summary_.last_error = body.status().message();
    return Step::kNext;
  }
  if (!counts.usage.empty()) NoteUsageSent(&pace_, RealtimeMs(), UsageBytes(counts));
  return SettleCounts(counts, book,
                      Post(kCountsPath, kCountsContentType, body->get(), bytes.size()));
}

Drain::Step Drain::SettleCounts(const ReportCounts& counts, CountBook* book,
                                const TransportReply& reply) {
  constexpr int kNotFound = 404, kMethodNotAllowed = 405;
  const std::optional<CountsAnswer> answer = AnswerToCounts(reply.body, counts.epoch);
  switch (JudgeAnswer(reply.http_status, answer.has_value())) {
    case UploadOutcome::kAcknowledged: {
      acknowledged_ = true;
      // Should this fail, they are sent again, and the server keeps the same numbers.
      const Status noted = book->Acknowledge(counts, *answer);
      if (!noted.ok()) summary_.last_error = noted.message();
      summary_.counts_kept = answer->resend;
      return Step::kNext;
    }
    case UploadOutcome::kPause:
      // A server that takes reports only; a wrong key is found with the first report.
      if (reply.http_status != kNotFound && reply.http_status != kMethodNotAllowed) break;
      [[fallthrough]];
    case UploadOutcome::kRefused:
    case UploadOutcome::kTooLarge:
      NoteCountsRefused(&pace_, RealtimeMs());
      break;
    case UploadOutcome::kRetryReport:
      failed_ = true;
      NoteError(reply);
      return Step::kFailed;
    case UploadOutcome::kRetryLater:
      failed_ = true;
      NoteError(reply);
      return Step::kStop;
  }
  summary_.last_error =
      "the server takes no counts of incidents: HTTP " + std::to_string(reply.http_status);
  summary_.counts_kept = false;
  return Step::kNext;
}

Drain::Step Drain::Send(const SpoolEntry& entry) {
  const uint64_t size_bytes = entry.file.size_bytes;
  if (size_bytes > spool_->limits().max_upload_bytes) return Drop(entry, SpoolFate::kTooLarge);
  if (!HasBudget(size_bytes) || !HasTime()) return Step::kStop;
  Result<ScopedFd> fd = spool_->BeginUpload(entry);
  if (!fd.ok()) {
    const bool dropped = fd.status().code() == StatusCode::kCorrupt;
    if (dropped) ++summary_.dropped;
    if (dropped) --summary_.kept;
    if (dropped || fd.status().code() == StatusCode::kNotFound) return Step::kNext;
    summary_.last_error = fd.status().message();
    failed_ = true;
    return Step::kStop;
  }
  return Settle(entry, Post(kReportsPath, kReportContentType, fd->get(), size_bytes));
}

Drain::Step Drain::Settle(const SpoolEntry& entry, const TransportReply& reply) {
  const bool typed_ack = AcknowledgesReport(reply.body, entry.id);
  switch (JudgeAnswer(reply.http_status, typed_ack)) {
    case UploadOutcome::kAcknowledged: {
      acknowledged_ = true;
      ++summary_.sent;
      --summary_.kept;
      // Should this fail, the report is sent again and the server says that it has it.
      const Status removed = spool_->MarkSent(entry);
      if (!removed.ok()) summary_.last_error = removed.message();
      return Step::kNext;
    }
    case UploadOutcome::kRefused:
      summary_.last_error =
          "the server rejected a report: HTTP " + std::to_string(reply.http_status);
      return Drop(entry, SpoolFate::kRefused);
    case UploadOutcome::kTooLarge:
      summary_.last_error = "a report is too large for the server";
      return Drop(entry, SpoolFate::kTooLarge);
    case UploadOutcome::kRetryReport:
      return Keep(entry, reply, false);
    case UploadOutcome::kPause:
      summary_.paused = true;
      return Keep(entry, reply, true);
    case UploadOutcome::kRetryLater:
      return Keep(entry, reply, true);
  }
  return Step::kStop;
}

Drain::Step Drain::Drop(const SpoolEntry& entry, SpoolFate why) {
  const Status status = spool_->Drop(entry, why);
  if (!status.ok()) {
    summary_.last_error = status.message();
    failed_ = true;
    return Step::kStop;
  }
  ++summary_.dropped;
  --summary_.kept;
  return Step::kNext;
}

void Drain::NoteError(const TransportReply& reply) {
  retry_after_s_ = ParseRetryAfter(reply.retry_after, RealtimeNs() / kNsPerSecond);
  if (reply.http_status == 0) {
    summary_.last_error = reply.error;
  } else if (reply.http_status == 200) {
    summary_.last_error = "the response is not from a collector";
  } else {
    summary_.last_error = "HTTP " + std::to_string(reply.http_status);
  }
}

Drain::Step Drain::Keep(const SpoolEntry& entry, const TransportReply& reply, bool stop) {
  failed_ = true;
  NoteError(reply);
  const Status ended = spool_->EndUpload(entry);
  if (!ended.ok()) summary_.last_error = ended.message();
  return stop ? Step::kStop : Step::kFailed;
}

}  // namespace

DrainSummary DrainSpool(Spool* spool, Transport* transport, const DrainOptions& options,
                        const std::function<void(const DrainSummary&)>& progress) {
  return Drain(spool, transport, options, progress).Run();
}

}  // namespace jankbox
