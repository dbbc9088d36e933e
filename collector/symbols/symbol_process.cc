#include "collector/symbols/symbol_process.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/process_runner.h"
#include "collector/symbols/symbol_worker.h"
#include "symbolize/limited_worker.h"

namespace jankbox::collector {
namespace {

using symbolproto::SymbolAnswer;
using symbolproto::SymbolJob;

constexpr int kPollMs = 100;  // how late a stop is seen
// A worker ends earlier, and the process says so.
constexpr uint64_t kMaxSilenceNs = (WorkerLimits().wall_seconds + 60) * kNsPerSecond;

// The answers of a process, as they come.
class Answers {
 public:
  explicit Answers(const AnswerFunction& on_answer) : on_answer_(on_answer) {}

  // False if these are none.
  bool Take(const char* bytes, size_t size) {
    pending_.append(bytes, size);
    size_t at = 0;
    uint32_t length = 0;
    while (pending_.size() - at >= sizeof(length)) {
      memcpy(&length, pending_.data() + at, sizeof(length));
      if (length > kMaxSymbolMessageBytes) return false;
      if (pending_.size() - at - sizeof(length) < length) break;
      SymbolAnswer answer;
      const char* const message = pending_.data() + at + sizeof(length);
      if (!answer.ParseFromArray(message, static_cast<int>(length))) return false;
      on_answer_(answer);
      at += sizeof(length) + length;
    }
    pending_.erase(0, at);
    return true;
  }

 private:
  const AnswerFunction& on_answer_;
  std::string pending_;
};

Status Ended(const std::string& how) {
  return Status(StatusCode::kIo, "the reader of debug files " + how);
}

Status ReadAnswers(int fd, const std::atomic<bool>& stop, const AnswerFunction& on_answer) {
  Answers answers(on_answer);
  std::vector<char> piece(256 << 10);
  uint64_t heard_ns = MonotonicNs();
  while (!stop) {
    pollfd ready{fd, POLLIN, 0};
    const int there = poll(&ready, 1, kPollMs);
    if (there == 0 && MonotonicNs() - heard_ns > kMaxSilenceNs) return Ended("took too long");
    if (there <= 0) continue;
    const ssize_t n = read(fd, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Status::Ok();
    if (!answers.Take(piece.data(), static_cast<size_t>(n))) return Ended("sent no answer");
    heard_ns = MonotonicNs();
  }
  return Ended("was stopped");
}

}  // namespace

Status RunSymbolJob(const SymbolJob& job, const std::atomic<bool>& stop,
                    const AnswerFunction& on_answer) {
  const std::string bytes = job.SerializeAsString();
  if (bytes.size() > kMaxSymbolMessageBytes) return Ended("cannot be asked for so much");
  ChildProcess child;
  const int error = child.Start({.argv = {"/proc/self/exe", kSymbolWorker},
                                 .in = ChildStream::kPiped,
                                 .out = ChildStream::kPiped,
                                 .detached = true,
                                 .in_child = [] { prctl(PR_SET_PDEATHSIG, SIGKILL); }});
  if (error != 0) {
    return Status(StatusCode::kUnavailable,
                  std::string("the reader of debug files cannot be started: ") + strerror(error));
  }
  const uint32_t size = static_cast<uint32_t>(bytes.size());
  const std::string head(reinterpret_cast<const char*>(&size), sizeof(size));
  Status status = WriteFully(child.in().get(), head + bytes);
  if (status.ok()) status = ReadAnswers(child.out().get(), stop, on_answer);
  if (!status.ok()) {
    child.Kill();
    return status;
  }
  child.Wait();
  const int ended = child.wait_status();
  if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0) return Status::Ok();
  return Ended(WIFSIGNALED(ended) ? std::string("was ended by ") + strsignal(WTERMSIG(ended))
                                  : "ended with an error");
}

}  // namespace jankbox::collector
