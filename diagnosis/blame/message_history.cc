#include "diagnosis/blame/message_history.h"

#include <algorithm>
#include <utility>

namespace jankbox {
namespace {

// The same moment read through the clock's line and back.
constexpr uint64_t kSameMomentNs = 1000;

class HistoryReader {
 public:
  HistoryReader(uint64_t from_ticks, uint64_t until_ticks, size_t max_messages)
      : until_ticks_(until_ticks), max_messages_(max_messages) {
    history_.from_ticks = from_ticks;
  }

  void Read(const WindowChunk& chunk, bool first) {
    if (first || chunk.gap_before) StartAnew(chunk);
    EventCursor cursor(chunk);
    EventRecord record;
    while (cursor.Next(&record)) {
      if (record.kind == EventKind::kDispatchBegin) Begin(record);
      if (record.kind == EventKind::kDispatchEnd) End(record.ticks);
    }
  }

  MessageHistory Take(uint64_t short_ticks) {
    std::rotate(last_.begin(), last_.begin() + static_cast<ptrdiff_t>(oldest_), last_.end());
    history_.left_out = history_.count - last_.size();
    for (const LoopMessage& message : last_) {
      LoopMessage* before = history_.last.empty() ? nullptr : &history_.last.back();
      const bool joins = before != nullptr && before->name == message.name &&
                         message.wall_ticks < short_ticks && last_is_short_;
      last_is_short_ = message.wall_ticks < short_ticks;
      if (joins) {
        before->wall_ticks += message.wall_ticks;
        ++before->count;
      } else {
        history_.last.push_back(message);
      }
    }
    return std::move(history_);
  }

 private:
  // Messages are missing before `chunk`: those that were read so far are not the last ones.
  void StartAnew(const WindowChunk& chunk) {
    history_.from_ticks = std::max(history_.from_ticks, chunk.base_ticks);
    history_.count = history_.busy_ticks = 0;
    history_.longest.clear();
    last_.clear();
    oldest_ = 0;
    depth_ = 0;
    for (const OpenCall& call : chunk.open_calls) {
      if (call.kind != EventKind::kDispatchBegin) continue;
      if (depth_++ == 0) open_ = {.name = 0, .begin_ticks = call.ticks};
    }
  }

  void Begin(const EventRecord& record) {
    if (depth_++ == 0) open_ = {.name = 0, .begin_ticks = record.ticks};
    // Names of what came after the incident would be in the report for nothing.
    if (open_.name == 0 && open_.begin_ticks < until_ticks_) {
      open_.name = NameIndex(DispatchName(record));
    }
  }

  void End(uint64_t ticks) {
    if (depth_ == 0 || --depth_ != 0) return;
    if (open_.begin_ticks >= until_ticks_ || ticks < open_.begin_ticks) return;
    if (ticks < history_.from_ticks) return;  // a thread's first chunk may begin before the window
    open_.wall_ticks = ticks - open_.begin_ticks;
    ++history_.count;
    history_.busy_ticks += open_.wall_ticks;
    NoteLongest();
    if (last_.size() < max_messages_) {
      last_.push_back(open_);
    } else if (max_messages_ != 0) {
      last_[oldest_] = open_;
      oldest_ = (oldest_ + 1) % max_messages_;
    }
  }

  void NoteLongest() {
    std::vector<LoopMessage>& longest = history_.longest;
    if (longest.size() == MessageHistory::kLongest &&
        longest.back().wall_ticks >= open_.wall_ticks) {
      return;
    }
    const auto shorter = std::find_if(
        longest.begin(), longest.end(),
        [this](const LoopMessage& other) { return other.wall_ticks < open_.wall_ticks; });
    longest.insert(shorter, open_);
    if (longest.size() > MessageHistory::kLongest) longest.pop_back();
  }

  uint32_t NameIndex(const std::string& name) {
    if (name.empty()) return 0;
    std::vector<std::string>& names = history_.names;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<uint32_t>(found - names.begin()) + 1;
    if (names.size() >= MessageHistory::kMaxNames) return 0;
    names.push_back(name);
    return static_cast<uint32_t>(names.size());
  }

  const uint64_t until_ticks_;
  const size_t max_messages_;
  MessageHistory history_;
  std::vector<LoopMessage> last_;  // a ring once it is full
  size_t oldest_ = 0;
  LoopMessage open_;
  uint32_t depth_ = 0;
  bool last_is_short_ = false;
};

}  // namespace

MessageHistory ReadMessageHistory(const RingWindow& window, int32_t tid, uint64_t incident_ticks,
                                  double ns_per_tick, size_t max_messages) {
  const auto ticks = [ns_per_tick](uint64_t ns) {
    return static_cast<uint64_t>(static_cast<double>(ns) / ns_per_tick);
  };
  const uint64_t slack = std::min(incident_ticks, ticks(kSameMomentNs));
  HistoryReader reader(window.from_ticks, incident_ticks - slack, max_messages);
  for (const WindowThread& thread : window.threads) {
    if (thread.tid != tid) continue;
    for (size_t i = 0; i < thread.chunks.size(); ++i) reader.Read(thread.chunks[i], i == 0);
  }
  return reader.Take(ticks(MessageHistory::kShortMessageNs));
}

}  // namespace jankbox
