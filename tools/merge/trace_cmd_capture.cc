// trace.dat of trace-cmd: the child process that reads it, and the pipe that its events come
// through.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/file.h"
#include "base/scoped_fd.h"
#include "tools/merge/system_capture.h"
#include "tools/merge/trace_cmd_records.h"

namespace jankbox::tools {
namespace {

using traceproto::CapturedEvent;

constexpr size_t kRecordPieceBytes = 256 << 10;
constexpr uint32_t kMaxMessageBytes = 1 << 20;
constexpr int kPatienceMs = 60'000;  // between two pieces; the library loops on some damage

// In the child: messages, each after its length, gathered into large writes.
[[noreturn]] void WriteEvents(const std::string& path, int fd) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0) {  // the library prints what it thinks of the file
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
  }
  const rlimit no_core{0, 0};  // what it dies of is in the file, not in us
  setrlimit(RLIMIT_CORE, &no_core);
  std::string pending;
  bool reader_there = true;
  ReadTraceCmdRecords(path, [&](const CapturedEvent& event) {
    const uint32_t size = static_cast<uint32_t>(event.ByteSizeLong());
    pending.append(reinterpret_cast<const char*>(&size), sizeof(size));
    event.AppendToString(&pending);
    if (pending.size() < kRecordPieceBytes && !event.has_problem()) return true;
    reader_there = WriteFully(fd, pending).ok();
    pending.clear();
    return reader_there;
  });
  _exit(reader_there ? 0 : 1);
}

class EventPipe {
 public:
  EventPipe(int fd, const EventFunction& on_event, CaptureReading* reading)
      : fd_(fd), on_event_(on_event), reading_(reading) {}

  // Ok once the child's last message came; kUnavailable if the pipe ends before.
  Status Drain() {
    std::string pending;
    std::string piece(kRecordPieceBytes, '\0');
    while (!ended_) {
      pollfd ready{fd_, POLLIN, 0};
      const int there = poll(&ready, 1, kPatienceMs);
      if (there < 0 && errno == EINTR) continue;
      if (there <= 0) return Status(StatusCode::kUnavailable, "");
      const ssize_t n = read(fd_, piece.data(), piece.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return Status(StatusCode::kUnavailable, "");
      pending.append(piece.data(), static_cast<size_t>(n));
      Status status = TakeWhole(&pending);
      if (!status.ok()) return status;
    }
    return Status::Ok();
  }

 private:
  Status TakeWhole(std::string* pending) {
    size_t at = 0;
    uint32_t size;
    while (!ended_ && pending->size() - at >= sizeof(size)) {
      memcpy(&size, pending->data() + at, sizeof(size));
      if (size > kMaxMessageBytes) return Status(StatusCode::kUnavailable, "");
      if (pending->size() - at - sizeof(size) < size) break;
      if (!event_.ParseFromArray(pending->data() + at + sizeof(size), static_cast<int>(size))) {
        return Status(StatusCode::kUnavailable, "");
      }
      at += sizeof(size) + size;
      Status status = Take();
      if (!status.ok()) return status;
    }
    pending->erase(0, at);
    return Status::Ok();
  }

  Status Take() {
    if (event_.has_problem()) {
      ended_ = true;
      return event_.problem().empty() ? Status::Ok()
                                      : Status(StatusCode::kCorrupt, event_.problem());
    }
    if (event_.has_clock()) {
      reading_->clock = event_.clock();
      return Status::Ok();
    }
    reading_->lost_events += event_.lost();
    if (!event_.left_out().empty()) {
      ++reading_->left_out[event_.left_out()];
      return Status::Ok();
    }
    return on_event_(&event_);
  }

  int fd_;
  const EventFunction& on_event_;
  CaptureReading* reading_;
  CapturedEvent event_;
  bool ended_ = false;
};

Status Died(int wait_status) {
  const std::string how = WIFSIGNALED(wait_status) ? std::string(" (its reader: ") +
                                                         strsignal(WTERMSIG(wait_status)) + ")"
                                                   : "";
  return Status(StatusCode::kCorrupt, "damaged trace.dat" + how + ": record it again");
}

}  // namespace

Status ReadTraceCmdCapture(const std::string& path, const EventFunction& on_event,
                           CaptureReading* reading) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Status::FromErrno(errno, "pipe");
  ScopedFd in(ends[0]);
  ScopedFd out(ends[1]);
  const pid_t child = fork();
  if (child < 0) return Status::FromErrno(errno, "fork");
  if (child == 0) WriteEvents(path, out.get());
  out.Reset();
  Status status = EventPipe(in.get(), on_event, reading).Drain();
  in.Reset();
  if (!status.ok()) kill(child, SIGKILL);  // it may hang on a damaged file
  int wait_status = 0;
  while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR) {
  }
  return status.code() == StatusCode::kUnavailable ? Died(wait_status) : status;
}

}  // namespace jankbox::tools
