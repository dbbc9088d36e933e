// Reads a file that may be hostile in a child process with limits: what the file does to its reader
// ends there. The child inherits the caller's memory as fork() does, may write no file, and is gone
// when RunLimited() returns. REQUIRES one thread. Blocks.
#ifndef JANKBOX_SYMBOLIZE_LIMITED_WORKER_H_
#define JANKBOX_SYMBOLIZE_LIMITED_WORKER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"
#include "symbolize/worker_message.pb.h"

namespace jankbox {

struct WorkerLimits {
  uint64_t memory_bytes = uint64_t{1} << 30;  // of address space, beyond what the caller has
  uint32_t cpu_seconds = 120;
  uint32_t wall_seconds = 600;
};

// Exit status of a worker that has no memory left, as its libraries may find before it does.
inline constexpr int kWorkerNoMemory = 3;

// A file that has more names for so many addresses or calls gives none. Files that are not hostile
// have some hundred bytes for each.
inline constexpr size_t kMaxNameBytes = 4 << 10;  // of each
inline constexpr size_t MaxNameBytes(size_t count) { return (16 + count) * kMaxNameBytes; }

// The child's end of the pipe.
class WorkerOutput {
 public:
  explicit WorkerOutput(int fd) : fd_(fd) {}

  void Send(const symbolproto::WorkerMessage& message);
  void SendProblem(const std::string& problem);
  // Makes sure that the caller gets what was sent, however this process ends.
  void Flush();

 private:
  const int fd_;
  std::string pending_;
};

using WorkerFunction = std::function<void(WorkerOutput*)>;
using WorkerMessageFunction = std::function<void(const symbolproto::WorkerMessage&)>;

// Runs `work` in the child and passes on its messages. Ok if it returned; kUnavailable says how it
// ended else: a limit, a signal. The messages up to then were passed on.
Status RunLimited(const WorkerLimits& limits, const WorkerFunction& work,
                  const WorkerMessageFunction& on_message);

}  // namespace jankbox

#endif  // JANKBOX_SYMBOLIZE_LIMITED_WORKER_H_
