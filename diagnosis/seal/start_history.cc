#include "diagnosis/seal/start_history.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/scoped_fd.h"
#include "diagnosis/seal/dead_ring.h"
#include "tracer/ring/ring_place.h"
#include "tracer/ring/ring_reader.h"

namespace jankbox {
namespace {

constexpr std::string_view kFirstLine = "jankbox starts 1";
constexpr size_t kMaxYoung = 16;
constexpr uint32_t kMaxCounted = 1000;
// The watcher of a process that lived so long after a change of hooks has said so.
constexpr uint64_t kHooksProvenNs = 1'400 * kNsPerMs;

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

// The header of the ring of `start`, if it is still there.
bool ReadHeader(const std::string& folder, const ProcessIdentity& start, RingHeader* header) {
  const Result<std::string> rings = RingFolder(folder);
  if (!rings.ok()) return false;
  const Result<ScopedFd> fd =
      OpenRegularFile(JoinPath(rings.value(), RingFileName(start.pid, start.start_ticks)));
  return fd.ok() && pread(fd->get(), header, sizeof(*header), 0) == sizeof(*header) &&
         RingReader::IsOurs(*header);
}

}  // namespace

void StartHistory::Remove(int pid) {
  std::erase_if(young, [pid](const ProcessIdentity& start) { return start.pid == pid; });
}

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

StartHistory ReadStartHistory(const std::string& path) {
  const Result<std::string> text = ReadFile(path, kMaxStartsFileBytes);
  return text.ok() ? ParseStartHistory(text.value()) : StartHistory();
}

void WriteStartHistory(const std::string& folder, const std::string& path,
                       const StartHistory& history) {
  if (history.failed == 0 && history.young.empty()) {
    unlink(path.c_str());
    return;
  }
  const std::string temporary = path + ".new";
  Status status = MakeDirectories(folder, 0700);
  if (status.ok()) {
    unlink(temporary.c_str());  // of a process that died here
    const ScopedFd fd(
        open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    status = fd.get() < 0 ? Status::FromErrno(errno, temporary)
                          : WriteFully(fd.get(), FormatStartHistory(history));
  }
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = Status::FromErrno(errno, path);
  }
  if (status.ok()) return;
  unlink(temporary.c_str());
  LogInfo("a crash after this start would not be counted: " + status.message());
}

StartHistory CountEndedStarts(StartHistory history,
                              const std::function<StartEnd(const ProcessIdentity&)>& end_of) {
  std::erase_if(history.young, [&](const ProcessIdentity& start) {
    const StartEnd end = end_of(start);
    if (end == StartEnd::kFailed) history.failed = std::min(history.failed + 1, kMaxCounted);
    return end != StartEnd::kLives;
  });
  return history;
}

StartEnd EndOfStart(const std::string& folder, const ProcessIdentity& start) {
  if (IsAlive(start)) return StartEnd::kLives;
  const auto header = std::make_unique<RingHeader>();
  const bool known = ReadHeader(folder, start, header.get());
  return known && !MayHaveDiedOfHooks(*header) ? StartEnd::kForgiven : StartEnd::kFailed;
}

bool MayHaveDiedOfHooks(const RingHeader& header) {
  if (EndOf(header) != RingEnd::kNone) return false;
  if (header.hooks_changing.load(std::memory_order_relaxed) != 0) return true;
  const uint64_t changed = header.hooks_changed_ticks.load(std::memory_order_relaxed);
  if (changed == 0) return false;
  const ClockReading& start = header.clock_at_start;
  const ClockReading last = LatestReading(header);
  const uint64_t alive =
      std::max(last.ticks, header.heartbeat_ticks.load(std::memory_order_relaxed));
  if (alive <= changed || last.ticks <= start.ticks) return true;
  // By the rate of both clocks since the start.
  const double ns_per_tick = static_cast<double>(last.monotonic_ns - start.monotonic_ns) /
                             static_cast<double>(last.ticks - start.ticks);
  return static_cast<double>(alive - changed) * ns_per_tick < static_cast<double>(kHooksProvenNs);
}

void ForgiveStart(const std::string& folder, int pid) {
  const Result<std::vector<std::string>> names = ListDirectory(folder);
  if (!names.ok()) return;
  for (const std::string& name : names.value()) {
    if (!name.starts_with(kStartsFilePrefix)) continue;
    const std::string path = JoinPath(folder, name);
    StartHistory history = ReadStartHistory(path);
    const size_t young = history.young.size();
    history.Remove(pid);
    if (history.young.size() != young) WriteStartHistory(folder, path, history);
  }
}

}  // namespace jankbox
