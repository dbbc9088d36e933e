#include "collector/symbols/namer.h"

#include <algorithm>

#include "base/clock.h"
#include "base/logger.h"
#include "base/own_thread.h"

namespace jankbox::collector {
namespace {

constexpr uint64_t kScanSeconds = 5;
constexpr uint64_t kScanShare = 20;  // of the time, for large folders
constexpr uint64_t kIdleSeconds = 60;
constexpr uint64_t kRetrySeconds = 10;

}  // namespace

Namer::Namer(ReportStore* store, SymbolStore* symbols, const BlobFolder* blobs,
             const std::vector<std::string>& folders)
    : steps_(store, symbols, blobs, &stop_), folders_(folders, symbols, &stop_) {}

Namer::~Namer() {
  stop_ = true;
  Wake();
  if (thread_.joinable()) thread_.join();
}

Status Namer::Start() {
  const Status status = steps_.Recover();
  if (!status.ok()) return status;
  thread_ = std::thread([this] {
    NameCurrentThread("jb-names");
    Run();
  });
  return Status::Ok();
}

void Namer::Wake() {
  MutexLock lock(&mutex_);
  awake_ = true;
  woken_.NotifyOne();
}

void Namer::Run() {
  while (!stop_) {
    const Result<bool> worked = Step();
    if (!worked.ok() && !stop_) {
      Log().error("cannot name reports at the moment: {}", worked.status().message());
      Wait(kRetrySeconds, Wakes::kPassedOver);
    } else if (worked.ok() && !worked.value()) {
      Wait(folders_.has_folders() ? kScanSeconds : kIdleSeconds, Wakes::kEnd);
    }
  }
}

Result<bool> Namer::Step() {
  if (folders_.has_folders() && MonotonicNs() >= scan_at_ns_) {
    const uint64_t begin_ns = MonotonicNs();
    const Status status = folders_.Scan();
    const uint64_t end_ns = MonotonicNs();
    scan_at_ns_ = end_ns + std::max(kScanSeconds * kNsPerSecond, kScanShare * (end_ns - begin_ns));
    if (!status.ok()) return status;
  }
  using Work = Result<bool> (NamingSteps::*)();
  for (const Work work : {&NamingSteps::IndexReports, &NamingSteps::MarkReports,
                          &NamingSteps::NameMessages, &NamingSteps::NameTraces}) {
    Result<bool> worked = (steps_.*work)();
    if (!worked.ok() || worked.value()) return worked;
  }
  return false;
}

void Namer::Wait(uint64_t seconds, Wakes wakes) {
  const uint64_t until_ns = MonotonicNs() + seconds * kNsPerSecond;
  MutexLock lock(&mutex_);
  while (!(awake_ && wakes == Wakes::kEnd) && !stop_ && woken_.WaitUntil(&mutex_, until_ns)) {
  }
  awake_ = false;
}

}  // namespace jankbox::collector
