#include "tools/run/report_upload.h"

#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/own_thread.h"
#include "report/report_file.h"
#include "uploader/transport/curl_transport.h"

namespace jankbox::tools {
namespace {

// While the program runs. The final drain waits for one that is under way: with both, the end stays
// below the bound of the final one.
constexpr uint64_t kBackgroundDrainNs = 5 * kNsPerSecond;
constexpr uint32_t kConnectTimeoutMs = 3'000;
constexpr int kMaxUnanswered = 2;

std::string ReadWhole(int fd, uint64_t size_bytes) {
  std::string bytes(std::min<uint64_t>(size_bytes, kMaxReportFileBytes), '\0');
  size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t n = pread(fd, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (n <= 0) break;
    at += static_cast<size_t>(n);
  }
  bytes.resize(at);
  return bytes;
}

}  // namespace

// Shows each report before it goes, and counts answers that never came.
class ReportUpload::WitnessedTransport : public Transport {
 public:
  WitnessedTransport(std::unique_ptr<Transport> transport, ReportUpload* upload)
      : transport_(std::move(transport)), upload_(upload) {}

  TransportReply Post(const UploadRequest& request) override {
    upload_->Remember(request.fd, request.size_bytes);
    TransportReply reply = transport_->Post(request);
    unanswered_in_a_row_ = reply.http_status == 0 ? unanswered_in_a_row_ + 1 : 0;
    return reply;
  }

  int unanswered_in_a_row() const { return unanswered_in_a_row_; }

 private:
  std::unique_ptr<Transport> transport_;
  ReportUpload* upload_;
  int unanswered_in_a_row_ = 0;
};

ReportUpload::ReportUpload(Spool* spool, std::string url)
    : spool_(spool),
      url_(std::move(url)),
      started_realtime_ns_(RealtimeNs()),
      changed_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { Run(); }) {}

ReportUpload::~ReportUpload() { thread_.join(); }

void ReportUpload::Clear() {
  uint64_t count;
  (void)!read(changed_fd_.get(), &count, sizeof(count));
}

void ReportUpload::Notify() {
  const uint64_t one = 1;
  (void)!write(changed_fd_.get(), &one, sizeof(one));
}

void ReportUpload::Wake() {
  MutexLock lock(&mutex_);
  wanted_ = true;
  wanted_changed_.NotifyAll();
}

void ReportUpload::BeginFinal(uint64_t deadline_monotonic_ns) {
  MutexLock lock(&mutex_);
  final_deadline_ns_ = deadline_monotonic_ns;
  wanted_changed_.NotifyAll();
}

bool ReportUpload::ended() const {
  MutexLock lock(&mutex_);
  return ended_;
}

DrainSummary ReportUpload::total() const {
  MutexLock lock(&mutex_);
  return total_;
}

std::vector<proto::Report> ReportUpload::TakeSeen() {
  MutexLock lock(&mutex_);
  return std::exchange(seen_, {});
}

void ReportUpload::Remember(int fd, uint64_t size_bytes) {
  struct stat st {};
  if (fstat(fd, &st) != 0) return;
  const uint64_t sealed_ns = static_cast<uint64_t>(st.st_mtim.tv_sec) * kNsPerSecond +
                             static_cast<uint64_t>(st.st_mtim.tv_nsec);
  if (sealed_ns < started_realtime_ns_) return;  // an earlier run's
  Result<proto::Report> report = ParseReport(ReadWhole(fd, size_bytes));
  if (!report.ok()) return;
  {
    MutexLock lock(&mutex_);
    seen_.push_back(std::move(report.value()));
  }
  Notify();
}

void ReportUpload::Publish(const DrainSummary& before, DrainSummary summary) {
  summary.sent += before.sent;
  summary.dropped += before.dropped;
  {
    MutexLock lock(&mutex_);
    total_ = std::move(summary);
  }
  Notify();
}

uint64_t ReportUpload::Drain(uint64_t deadline_monotonic_ns, bool is_final) {
  const DrainSummary before = total();
  Result<std::unique_ptr<Transport>> curl = NewCurlTransport();
  if (!curl.ok()) {
    const Result<std::vector<SpoolEntry>> entries = spool_->List();
    Publish(before,
            {.kept = entries.ok() ? entries->size() : 0, .last_error = curl.status().message()});
    return UINT64_MAX;
  }
  WitnessedTransport transport(std::move(curl.value()), this);
  DrainOptions options;
  options.base_url = url_;
  options.deadline_monotonic_ns = deadline_monotonic_ns;
  options.on_demand = is_final;
  options.connect_timeout_ms = kConnectTimeoutMs;
  if (is_final) {
    // The user waits: a busy server gets some time, an unreachable one does not.
    options.wait = [&transport](uint64_t ms) {
      if (transport.unanswered_in_a_row() >= kMaxUnanswered) return false;
      usleep(static_cast<useconds_t>(ms * 1000));
      return true;
    };
  }
  const DrainSummary summary = DrainSpool(
      spool_, &transport, options, [&](const DrainSummary& so_far) { Publish(before, so_far); });
  Publish(before, summary);
  if ((summary.kept == 0 && !summary.counts_kept) || summary.paused) return UINT64_MAX;
  return MonotonicNs() + std::max<uint64_t>(summary.retry_in_ms, 1000) * kNsPerMs;
}

void ReportUpload::Run() {
  NameCurrentThread("jankbox-upload");
  uint64_t retry_at_ns = UINT64_MAX;
  uint64_t deadline_ns = 0;
  while ((deadline_ns = WaitForWork(retry_at_ns)) == 0) {
    retry_at_ns = Drain(MonotonicNs() + kBackgroundDrainNs, /*is_final=*/false);
  }
  Drain(deadline_ns, /*is_final=*/true);
  {
    MutexLock lock(&mutex_);
    ended_ = true;
  }
  Notify();
}

uint64_t ReportUpload::WaitForWork(uint64_t retry_at_ns) {
  MutexLock lock(&mutex_);
  while (final_deadline_ns_ == 0 && !wanted_ && MonotonicNs() < retry_at_ns) {
    wanted_changed_.WaitUntil(&mutex_, retry_at_ns);
  }
  wanted_ = false;
  return final_deadline_ns_;
}

}  // namespace jankbox::tools
