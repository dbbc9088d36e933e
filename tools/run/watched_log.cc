#include "tools/run/watched_log.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sdk/linux/java_ui.h"
#include "tools/reports/duration_text.h"
#include "tools/run/message_fields.h"
#include "tools/terminal/terminal.h"
#include "tracer/ring/ring_format.h"

namespace jankbox::tools {
namespace {

constexpr size_t kFields = 7;  // pid, index, ended, messages, loop, thread, process
constexpr size_t kNamed = 3;

}  // namespace

void WatchedLog::Add(std::string_view text, uint64_t now_ns) {
  const std::vector<std::string_view> fields = Fields(text);
  if (fields.size() != kFields) return;
  const std::optional<uint64_t> pid = Number(fields[0]), index = Number(fields[1]),
                                messages = Number(fields[3]);
  if (!pid || !index || !messages) return;
  const int process = static_cast<int>(*pid);
  if (fields[5] == "main") {  // it may be known already, and still without its place
    const bool known = std::any_of(loops_.begin(), loops_.end(), [process](const auto& entry) {
      return entry.first.first == process && entry.second.thread == "main";
    });
    if (known && *index == kMaxWatchedThreads) return;
    auto waiting = loops_.extract({process, kMaxWatchedThreads});
    if (!waiting.empty()) {
      waiting.key() = {process, *index};
      loops_.insert(std::move(waiting));
    }
  }
  const auto [at, added] = loops_.try_emplace({process, *index});
  Loop& loop = at->second;
  if (added) {
    loop.order = loops_.size();
    loop.begin_ns = now_ns;
  }
  loop.end_ns = fields[2] == "1" ? now_ns : 0;
  loop.messages = *messages;
  loop.loop = Printable(std::string(fields[4]));
  loop.thread = Printable(std::string(fields[5]));
  loop.process = Printable(std::string(fields[6]));
}

void WatchedLog::AddPossibleStalls(std::string_view text) {
  const std::vector<std::string_view> fields = Fields(text);
  if (fields.size() != 3) return;
  const std::optional<uint64_t> count = Number(fields[0]), longest_ms = Number(fields[1]),
                                start_up_ms = Number(fields[2]);
  if (!count || !longest_ms || !start_up_ms) return;
  unrecorded_start_up_ms_ = std::max(unrecorded_start_up_ms_, *start_up_ms);
  possible_stalls_ += *count;
  longest_possible_ms_ = std::max(longest_possible_ms_, *longest_ms);
}

void WatchedLog::AddJava(std::string_view text) {
  missed_java_ui_ = missed_java_ui_ || text == kJavaUiNotWatched.substr(kJavaPrefix.size());
  java_without_ui_ = java_without_ui_ || text == kJavaHasNoUi.substr(kJavaPrefix.size());
}

void WatchedLog::AddRecognised(std::string_view text) {
  const std::vector<std::string_view> fields = Fields(text);
  if (fields.size() != 3) return;
  const std::optional<uint64_t> pid = Number(fields[0]);
  if (!pid) return;
  signs_[{static_cast<int>(*pid), Printable(std::string(fields[1]))}] =
      Printable(std::string(fields[2]));
}

// "glib", and how the thread was found to be the UI thread.
std::string WatchedLog::NameOf(int pid, const Loop& loop) const {
  const auto sign = signs_.find({pid, loop.thread});
  return sign == signs_.end() ? loop.loop : loop.loop + ", UI thread by its " + sign->second;
}

bool WatchedLog::empty() const {
  return std::all_of(loops_.begin(), loops_.end(),
                     [](const auto& entry) { return entry.second.loop.empty(); });
}

std::string WatchedLog::Summary(uint64_t now_ns) const {
  std::vector<const std::pair<const std::pair<int, size_t>, Loop>*> in_order;
  std::set<int> processes;
  for (const auto& entry : loops_) {
    if (entry.second.loop.empty()) continue;
    in_order.push_back(&entry);
    processes.insert(entry.first.first);
  }
  std::sort(in_order.begin(), in_order.end(),
            [](const auto* a, const auto* b) { return a->second.order < b->second.order; });
  std::string line;
  for (size_t i = 0; i < in_order.size() && i < kNamed; ++i) {
    const auto& [key, loop] = *in_order[i];
    line += (i == 0 ? "watched: " : "; ") + loop.thread;
    if (processes.size() > 1) line += " of " + loop.process;
    line += " (" + NameOf(key.first, loop) + ")";
    const uint64_t end_ns = loop.end_ns != 0 ? loop.end_ns : now_ns;
    const uint64_t watched_ns = end_ns - loop.begin_ns;
    const std::string time = DurationText(static_cast<double>(watched_ns) / kNsPerMs);
    if (loop.end_ns == 0) {
      line += " for " + time + ", until its process ended without a stop";
    } else {  // both may come at the end
      line +=
          ", " + Plural(loop.messages, "message") + (watched_ns < kNsPerMs ? "" : " in " + time);
    }
  }
  if (in_order.size() > kNamed) line += "; and " + Plural(in_order.size() - kNamed, "more loop");
  if (possible_stalls_ != 0) {
    line += "; " + Plural(possible_stalls_, "possible stall") + " of up to " +
            DurationText(static_cast<double>(longest_possible_ms_)) +
            ", not reported: it was not yet sure which waits are the loop's";
  }
  if (unrecorded_start_up_ms_ != 0) {
    line += "; a start-up of " + DurationText(static_cast<double>(unrecorded_start_up_ms_)) +
            " was over before it could be recorded (--startup records it)";
  }
  return line;
}

}  // namespace jankbox::tools
