#include "sdk/runtime/crash_loop.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "base/scoped_fd.h"

namespace jankbox {
namespace {

constexpr std::string_view kFirstLine = "jankbox starts 1";
constexpr size_t kMaxYoung = 16;
constexpr uint32_t kMaxCounted = 1000;

// The next word of `line`, up to a blank.
std::string_view TakeWord(std::string_view* line) {
  const size_t end = std::min(line->find(' '), line->size());
  const std::string_view word = line->substr(0, end);
  line->remove_prefix(std::min(end + 1, line->size()));
  return word;
}

template <typename Number>
bool TakeNumber(std::string_view* line, Number* number) {
  const std::string_view word = TakeWord(line);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *number);
  return error == std::errc() && end == word.data() + word.size();
}

// False if the line makes no sense.
bool TakeLine(std::string_view line, StartHistory* history) {
  const std::string_view what = TakeWord(&line);
  if (what == "failed") {
    return TakeNumber(&line, &history->failed) && history->failed <= kMaxCounted;
  }
  ProcessIdentity start;
  if (what != "young" || !TakeNumber(&line, &start.pid) || start.pid <= 0 ||
      !TakeNumber(&line, &start.start_ticks) || history->young.size() == kMaxYoung) {
    return false;
  }
  start.boot_id = line;
  history->young.push_back(std::move(start));
  return true;
}

}  // namespace

StartHistory ParseStartHistory(std::string_view text) {
  StartHistory history;
  bool first = true;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};  // cut
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (first ? line != kFirstLine : !TakeLine(line, &history)) return {};
    first = false;
  }
  return history;
}

std::string FormatStartHistory(const StartHistory& history) {
  std::string text(kFirstLine);
  text += "\nfailed " + std::to_string(std::min(history.failed, kMaxCounted)) + "\n";
  // The oldest are the first to be known as dead or alive.
  const size_t skipped = history.young.size() - std::min(history.young.size(), kMaxYoung);
  for (size_t i = skipped; i < history.young.size(); ++i) {
    const ProcessIdentity& start = history.young[i];
    text += "young " + std::to_string(start.pid) + " " + std::to_string(start.start_ticks) + " " +
            start.boot_id + "\n";
  }
  return text;
}

StartHistory CountDeadStarts(StartHistory history, bool (*is_alive)(const ProcessIdentity&)) {
  const auto dead = std::erase_if(
      history.young, [is_alive](const ProcessIdentity& start) { return !is_alive(start); });
  history.failed = std::min(history.failed + static_cast<uint32_t>(dead), kMaxCounted);
  return history;
}

CrashLoop::CrashLoop(std::string folder, const std::string& program, ProcessIdentity self)
    : folder_(std::move(folder)),
      path_(JoinPath(folder_, kStartsFilePrefix + program)),
      self_(std::move(self)) {}

StartHistory CrashLoop::Read() const {
  const Result<std::string> text = ReadFile(path_, kMaxStartsFileBytes);
  return text.ok() ? ParseStartHistory(text.value()) : StartHistory();
}

// Whole or not at all for a process that dies meanwhile. Not synced: a power cut is no crash.
void CrashLoop::Write(const StartHistory& history) {
  if (history.failed == 0 && history.young.empty()) {
    unlink(path_.c_str());
    return;
  }
  const std::string temporary = path_ + ".new";
  Status status = MakeDirectories(folder_, 0700);
  if (status.ok()) {
    unlink(temporary.c_str());  // of a process that died here
    const ScopedFd fd(
        open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    status = fd.get() < 0 ? Status::FromErrno(errno, temporary)
                          : WriteFully(fd.get(), FormatStartHistory(history));
  }
  if (status.ok() && rename(temporary.c_str(), path_.c_str()) != 0) {
    status = Status::FromErrno(errno, path_);
  }
  if (status.ok()) return;
  unlink(temporary.c_str());
  LogInfo("a crash after this start would not be counted: " + status.message());
}

StartHistory CrashLoop::WithoutSelf(StartHistory history) const {
  std::erase_if(history.young,
                [this](const ProcessIdentity& start) { return start.pid == self_.pid; });
  return history;
}

void CrashLoop::Begin() {
  StartHistory history = CountDeadStarts(WithoutSelf(Read()), IsAlive);
  history.young.push_back(self_);
  Write(history);
  std::string reason;
  if (history.failed >= kMaxFailedStarts) {
    reason = "hooks are off: the last " + std::to_string(history.failed) +
             " starts died within 10 s; a start that lives longer turns them on again";
    LogWarning(reason);
  }
  MutexLock lock(&mutex_);
  reason_ = std::move(reason);
  is_decided_ = true;
  decided_.NotifyAll();
}

void CrashLoop::Lived() {
  StartHistory history = WithoutSelf(Read());
  history.failed = 0;
  Write(history);
}

void CrashLoop::Ended() { Write(WithoutSelf(Read())); }

bool CrashLoop::HooksAllowed(uint64_t timeout_ns) {
  const uint64_t deadline_ns = MonotonicNs() + timeout_ns;
  MutexLock lock(&mutex_);
  while (!is_decided_ && decided_.WaitUntil(&mutex_, deadline_ns)) {
  }
  return is_decided_ && reason_.empty();
}

std::string CrashLoop::Reason() {
  MutexLock lock(&mutex_);
  return reason_;
}

void ForgiveStart(const std::string& folder, int pid) {
  const Result<std::vector<std::string>> names = ListDirectory(folder);
  if (!names.ok()) return;
  for (const std::string& name : names.value()) {
    if (!name.starts_with(kStartsFilePrefix)) continue;
    const Result<std::string> text = ReadFile(JoinPath(folder, name), kMaxStartsFileBytes);
    if (!text.ok()) continue;
    for (const ProcessIdentity& start : ParseStartHistory(text.value()).young) {
      if (start.pid != pid) continue;
      CrashLoop(folder, name.substr(strlen(kStartsFilePrefix)), start).Ended();
      break;
    }
  }
}

}  // namespace jankbox
