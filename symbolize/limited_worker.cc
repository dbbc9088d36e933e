#include "symbolize/limited_worker.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "base/file.h"
#include "base/scoped_fd.h"

namespace jankbox {
namespace {

using symbolproto::WorkerMessage;
using Clock = std::chrono::steady_clock;

constexpr size_t kPieceBytes = 256 << 10;
constexpr uint32_t kMaxMessageBytes = 16 << 20;
constexpr uint64_t kMaxOutputBytes = uint64_t{1} << 30;
constexpr rlim_t kMaxOpenFiles = 256;

uint64_t MappedBytes() {
  const std::string statm = ReadProcFile("/proc/self/statm");
  return strtoull(statm.c_str(), nullptr, 10) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void Limit(__rlimit_resource resource, rlim_t soft, rlim_t hard) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return;
  limit.rlim_max = std::min(limit.rlim_max, hard);
  limit.rlim_cur = std::min(limit.rlim_max, soft);
  setrlimit(resource, &limit);
}

[[noreturn]] void RunInChild(const WorkerLimits& limits, const WorkerFunction& work, pid_t parent,
                             int fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, stream);
  Limit(RLIMIT_CORE, 0, 0);
  Limit(RLIMIT_FSIZE, 0, 0);
  Limit(RLIMIT_NOFILE, kMaxOpenFiles, kMaxOpenFiles);
  Limit(RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1);
  const rlim_t memory = MappedBytes() + limits.memory_bytes;
  Limit(RLIMIT_AS, memory, memory);
  try {
    WorkerOutput output(fd);
    work(&output);
    output.Flush();
  } catch (const std::bad_alloc&) {
    _exit(kWorkerNoMemory);
  } catch (const std::exception&) {
    _exit(1);
  }
  _exit(0);
}

// The messages of the child, until its end.
class WorkerInput {
 public:
  WorkerInput(int fd, Clock::time_point deadline, const WorkerMessageFunction& on_message)
      : fd_(fd), deadline_(deadline), on_message_(on_message) {}

  // False if the child has to be ended: `why()`, or it takes too long.
  bool Drain() {
    std::string piece(kPieceBytes, '\0');
    uint64_t total = 0;
    for (;;) {
      pollfd ready{fd_, POLLIN, 0};
      const int there = poll(&ready, 1, LeftMs());
      if (there < 0 && errno == EINTR) continue;
      if (there <= 0) return false;
      const ssize_t n = read(fd_, piece.data(), piece.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return true;
      pending_.append(piece.data(), static_cast<size_t>(n));
      total += static_cast<uint64_t>(n);
      if (total > kMaxOutputBytes || !TakeWhole()) {
        why_ = "sent what it should not";
        return false;
      }
    }
  }

  const std::string& why() const { return why_; }

 private:
  int LeftMs() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
    return static_cast<int>(std::max<int64_t>(left.count(), 0));
  }

  bool TakeWhole() {
    size_t at = 0;
    uint32_t size = 0;
    while (pending_.size() - at >= sizeof(size)) {
      memcpy(&size, pending_.data() + at, sizeof(size));
      if (size > kMaxMessageBytes) return false;
      if (pending_.size() - at - sizeof(size) < size) break;
      WorkerMessage message;
      if (!message.ParseFromArray(pending_.data() + at + sizeof(size), static_cast<int>(size))) {
        return false;
      }
      on_message_(message);
      at += sizeof(size) + size;
    }
    pending_.erase(0, at);
    return true;
  }

  const int fd_;
  const Clock::time_point deadline_;
  const WorkerMessageFunction& on_message_;
  std::string pending_;
  std::string why_;
};

Status Ended(const std::string& how) { return Status(StatusCode::kUnavailable, how); }

Status EndOf(int wait_status, const WorkerLimits& limits) {
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) return Status::Ok();
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == kWorkerNoMemory) {
    return Ended("its reader needed too much memory");
  }
  if (WIFEXITED(wait_status)) {
    return Ended("its reader ended with status " + std::to_string(WEXITSTATUS(wait_status)));
  }
  const int signal = WTERMSIG(wait_status);
  if (signal == SIGXCPU) {
    return Ended("its reader took more than " + std::to_string(limits.cpu_seconds) +
                 " s of processor time");
  }
  return Ended(std::string("its reader crashed (") + strsignal(signal) + ")");
}

// Waits for the child, which has closed its end of the pipe, but no longer than the limit.
int WaitFor(pid_t child, Clock::time_point deadline) {
  int wait_status = 0;
  for (;;) {
    const pid_t ended = waitpid(child, &wait_status, WNOHANG);
    if (ended == child) return wait_status;
    if (Clock::now() >= deadline) break;
    constexpr int kPauseMs = 2;
    poll(nullptr, 0, kPauseMs);
  }
  kill(child, SIGKILL);
  while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR) {
  }
  return wait_status;
}

}  // namespace

void WorkerOutput::Send(const WorkerMessage& message) {
  const uint32_t size = static_cast<uint32_t>(message.ByteSizeLong());
  pending_.append(reinterpret_cast<const char*>(&size), sizeof(size));
  message.AppendToString(&pending_);
  if (pending_.size() >= kPieceBytes) Flush();
}

void WorkerOutput::SendProblem(const std::string& problem) {
  WorkerMessage message;
  message.set_problem(problem);
  Send(message);
}

void WorkerOutput::Flush() {
  if (!WriteFully(fd_, pending_).ok()) _exit(1);  // nobody reads any more
  pending_.clear();
}

Status RunLimited(const WorkerLimits& limits, const WorkerFunction& work,
                  const WorkerMessageFunction& on_message) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Status::FromErrno(errno, "pipe");
  ScopedFd in(ends[0]);
  ScopedFd out(ends[1]);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return Status::FromErrno(errno, "fork");
  if (child == 0) RunInChild(limits, work, parent, out.get());
  out.Reset();
  const auto deadline = Clock::now() + std::chrono::seconds(limits.wall_seconds);
  WorkerInput input(in.get(), deadline, on_message);
  const bool ended = input.Drain();
  if (!ended) kill(child, SIGKILL);
  const int wait_status = WaitFor(child, deadline);
  if (ended) return EndOf(wait_status, limits);
  if (!input.why().empty()) return Ended("its reader " + input.why());
  return Ended("its reader took more than " + std::to_string(limits.wall_seconds) + " s");
}

}  // namespace jankbox
