#include "sdk/runtime/upload_thread.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "base/own_thread.h"
#include "sdk/api/app_transport.h"
#include "tracer/hook/reentry_guard.h"
#include "uploader/spool/spool.h"
#include "uploader/transport/curl_transport.h"

namespace jankbox {
namespace {

constexpr uint64_t kDrainNs = 60 * kNsPerSecond;  // then the thread looks at its other work again
// Another process has the spool, or this one is out of descriptors or memory.
constexpr uint64_t kBusyRetryNs = 60 * kNsPerSecond;

// A transfer that is cancelled ends within this time.
constexpr uint64_t kCancelNs = kNsPerSecond + 200 * kNsPerMs;
constexpr uint64_t kLeaveNs = 200 * kNsPerMs;  // the least that a drain has to notice it
constexpr uint64_t kShortestPatienceMs = 1000;
// Counts that no report takes along.
constexpr uint64_t kCountsDelayNs = 15 * 60 * kNsPerSecond;

uint64_t DrainOnce(const Options& given, const std::atomic<bool>* cancelled) {
  const int network = UploadNetwork();
  if (network == JANKBOX_NETWORK_OFF || UploadDeclined()) return UINT64_MAX;
  SpoolLimits limits;
  limits.min_free_bytes = 0;  // sending is what frees a full disk
  Result<Spool> spool = Spool::Open(given.dir, limits);
  std::unique_ptr<Transport> apps = NewAppTransport();
  Result<std::unique_ptr<Transport>> transport =
      apps != nullptr ? Result<std::unique_ptr<Transport>>(std::move(apps)) : NewCurlTransport();
  if (!spool.ok() || !transport.ok()) {
    const Status& status = spool.ok() ? transport.status() : spool.status();
    LogWarning("reports are not uploaded: " + status.message());
    const bool busy = status.code() == StatusCode::kBusy;
    return busy ? MonotonicNs() + kBusyRetryNs : UINT64_MAX;
  }
  DrainOptions options;
  options.base_url = given.upload_url;
  options.deadline_monotonic_ns = MonotonicNs() + kDrainNs;
  options.metered = network == JANKBOX_NETWORK_METERED;
  options.usage = given.usage;
  // A stop is not to wait for a server that does not answer.
  options.cancelled = cancelled;
  const DrainSummary summary = DrainSpool(&spool.value(), transport.value().get(), options, {});
  if (!summary.last_error.empty()) LogInfo("upload: " + summary.last_error);
  if (UploadDeclined()) {  // the drain may have written counts since
    const Status wiped = spool.value().Wipe();
    if (!wiped.ok()) LogWarning("reports are not removed: " + wiped.message());
  }
  return RetryAtNs(summary, MonotonicNs());
}

}  // namespace

uint64_t RetryAtNs(const DrainSummary& summary, uint64_t now_ns) {
  if ((summary.kept == 0 && !summary.counts_kept) || summary.paused) return UINT64_MAX;
  return now_ns + std::max(summary.retry_in_ms, kShortestPatienceMs) * kNsPerMs;
}

UploadThread::UploadThread(const Options& options)
    : drain_([options](const std::atomic<bool>* cancelled) {
        return DrainOnce(options, cancelled);
      }) {}

bool UploadThread::Start() {
  return thread_.Start([this] { Run(); });
}

void UploadThread::Wake() {
  MutexLock lock(&mutex_);
  wanted_ = true;
  changed_.NotifyAll();
}

void UploadThread::WakeForCounts() {
  {
    MutexLock lock(&mutex_);
    counts_at_stop_ = true;
  }
  WakeForUsage();
}

void UploadThread::WakeForUsage() {
  MutexLock lock(&mutex_);
  if (counts_at_ns_ != UINT64_MAX) return;
  counts_at_ns_ = MonotonicNs() + kCountsDelayNs;
  changed_.NotifyAll();
}

bool UploadThread::WaitIdle(uint64_t deadline_ns) {
  MutexLock lock(&mutex_);
  while (wanted_ || busy_) {
    if (!changed_.WaitUntil(&mutex_, deadline_ns)) return !wanted_ && !busy_;
  }
  return true;
}

bool UploadThread::Stop(uint64_t deadline_ns) {
  {
    MutexLock lock(&mutex_);
    wanted_ = wanted_ || counts_at_stop_;
    changed_.NotifyAll();
  }
  WaitIdle(deadline_ns - std::min(deadline_ns, kCancelNs));
  {
    MutexLock lock(&mutex_);
    cancelled_.store(true, std::memory_order_relaxed);
    stop_ = true;
    changed_.NotifyAll();
  }
  return thread_.Join(std::max(deadline_ns, MonotonicNs() + kLeaveNs));
}

void UploadThread::CancelDrain() {
  MutexLock lock(&mutex_);
  if (busy_) cancelled_.store(true, std::memory_order_relaxed);
}

void UploadThread::Run() {
  NameCurrentThread("jankbox-upload");
  ReentryGuard::ExcludeThread();
  cpu_clock_.SetToCurrentThread();
  uint64_t retry_at_ns = UINT64_MAX;
  while (WaitForWork(retry_at_ns)) {
    retry_at_ns = drain_(&cancelled_);
    MutexLock lock(&mutex_);
    busy_ = false;
    if (!stop_) cancelled_.store(false, std::memory_order_relaxed);
    changed_.NotifyAll();
  }
  cpu_clock_.End();
}

bool UploadThread::WaitForWork(uint64_t retry_at_ns) {
  MutexLock lock(&mutex_);
  while (!stop_ && !wanted_) {
    const uint64_t next_ns = std::min(retry_at_ns, counts_at_ns_);
    if (MonotonicNs() >= next_ns) break;
    changed_.WaitUntil(&mutex_, next_ns);
  }
  wanted_ = false;
  counts_at_ns_ = UINT64_MAX;
  counts_at_stop_ = false;
  busy_ = !stop_;
  return !stop_;
}

}  // namespace jankbox
