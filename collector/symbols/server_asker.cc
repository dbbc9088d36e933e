#include "collector/symbols/server_asker.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/logger.h"
#include "base/own_thread.h"
#include "base/scoped_fd.h"
#include "collector/symbols/symbol_job.pb.h"
#include "collector/symbols/symbol_process.h"
#include "symbolize/debug_files.h"

namespace jankbox::collector {
namespace {

constexpr uint64_t kPollNs = 2 * kNsPerSecond;
constexpr uint64_t kPollShare = 20;  // of the time, for large stores
constexpr int64_t kAskAgainMs = int64_t{24} * 3600 * 1000;

}  // namespace

ServerAsker::~ServerAsker() {
  stop_ = true;
  {
    MutexLock lock(&mutex_);
    woken_.NotifyOne();
  }
  if (thread_.joinable()) thread_.join();
}

void ServerAsker::Start() {
  if (!HasDebuginfodServers()) return;
  thread_ = std::thread([this] {
    NameCurrentThread("jb-debuginfod");
    Run();
  });
}

void ServerAsker::Run() {
  while (!stop_) {
    const uint64_t begin_ns = MonotonicNs();
    const Result<bool> asked = AskForOne();
    if (!asked.ok() && !stop_) Log().warn("debuginfod: {}", asked.status().message());
    if (!asked.ok() || !asked.value()) {
      Wait(std::max(kPollNs, kPollShare * (MonotonicNs() - begin_ns)));
    }
  }
}

Result<bool> ServerAsker::AskForOne() {
  const int64_t now_ms = static_cast<int64_t>(RealtimeNs() / kNsPerMs);
  const Result<std::string> build_id = demand_.NextToAskFor(now_ms - kAskAgainMs, now_ms);
  if (!build_id.ok()) return build_id.status();
  if (build_id->empty()) return false;
  symbolproto::SymbolJob job;
  job.mutable_ask_servers()->set_build_id(build_id.value());
  std::string path;
  const Status status = RunSymbolJob(
      job, stop_, [&](const symbolproto::SymbolAnswer& answer) { path = answer.path(); });
  if (!status.ok()) return status;
  if (path.empty()) return true;
  const Status taken = Take(path);
  if (!taken.ok()) return taken;
  return true;
}

Status ServerAsker::Take(const std::string& path) {
  const ScopedFd from(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!from.valid()) return Status::FromErrno(errno, path);
  Result<std::unique_ptr<IncomingFile>> file = receiver_->Begin();
  if (!file.ok()) return file.status();
  std::vector<char> piece(1 << 20);
  for (ssize_t n = 0; (n = read(from.get(), piece.data(), piece.size())) > 0;) {
    const Status status = file.value()->Write({piece.data(), static_cast<size_t>(n)});
    if (!status.ok()) return status;
  }
  return receiver_->Accept(file->get(), std::nullopt).status();
}

void ServerAsker::Wait(uint64_t ns) {
  const uint64_t until_ns = MonotonicNs() + ns;
  MutexLock lock(&mutex_);
  while (!stop_ && woken_.WaitUntil(&mutex_, until_ns)) {
  }
}

}  // namespace jankbox::collector
