#include "diagnosis/blame/healthy_messages.h"

#include <algorithm>
#include <utility>

#include "base/compact_sort.h"

namespace jankbox {
namespace {

// Follows one thread's events and puts whole messages together.
class Assembler {
 public:
  void Gap() { running_ = false, open_.clear(); }

  void Add(const EventRecord& event) {
    if (event.kind == EventKind::kDispatchBegin) {
      // If a loop is watched from outside, the message inside it has the name.
      const bool nested = running_;
      const std::string name = DispatchName(event);
      if (!nested) profile_ = {"", event.ticks, 0, {}};
      if (profile_.what.empty()) profile_.what = name;
      depth_ = nested ? depth_ + 1 : 1;
      running_ = true;
      if (!nested) open_.clear();
    } else if (!running_) {
      return;
    } else if (event.kind == EventKind::kBegin) {
      open_.push_back({event.id, event.ticks});
    } else if (event.kind == EventKind::kEnd) {
      Leave(event);
    } else if (event.kind == EventKind::kDispatchEnd && --depth_ == 0) {
      profile_.end_ticks = event.ticks;
      messages_.push_back(std::move(profile_));
      running_ = false;
    }
  }

  std::vector<MessageProfile> TakeMessages() { return std::move(messages_); }

 private:
  struct Open {
    uint32_t id;
    uint64_t ticks;
  };

  void Leave(const EventRecord& event) {
    const auto match = std::find_if(open_.rbegin(), open_.rend(),
                                    [&](const Open& call) { return call.id == event.id; });
    if (match == open_.rend()) return;
    const Open call = *match;
    open_.erase(match.base() - 1, open_.end());
    const bool recursive = std::any_of(open_.begin(), open_.end(),
                                       [&](const Open& outer) { return outer.id == call.id; });
    if (!recursive) profile_.methods[call.id] += event.ticks - call.ticks;
  }

  bool running_ = false;
  int depth_ = 0;
  MessageProfile profile_;
  std::vector<Open> open_;
  std::vector<MessageProfile> messages_;
};

}  // namespace

std::vector<MessageProfile> MessagesOf(const RingWindow& window, int32_t tid) {
  Assembler assembler;
  for (const WindowThread& thread : window.threads) {
    if (thread.tid != tid) continue;
    assembler.Gap();
    for (const WindowChunk& chunk : thread.chunks) {
      if (chunk.gap_before) assembler.Gap();
      EventCursor cursor(chunk);
      EventRecord record;
      while (cursor.Next(&record)) assembler.Add(record);
    }
  }
  return assembler.TakeMessages();
}

uint64_t HealthyMessages::Random() {  // xorshift64
  random_state_ ^= random_state_ << 13;
  random_state_ ^= random_state_ >> 7;
  random_state_ ^= random_state_ << 17;
  return random_state_;
}

void HealthyMessages::Learn(const std::vector<MessageProfile>& messages, uint64_t before_ticks,
                            uint64_t healthy_ticks) {
  for (const MessageProfile& message : messages) {
    if (message.end_ticks > before_ticks || message.ticks() >= healthy_ticks) continue;
    if (kinds_.count(message.what) == 0 && kinds_.size() >= kMaxKinds) continue;
    Kind& kind = kinds_[message.what];
    if (message.end_ticks <= kind.learnt_until_ticks) continue;
    kind.learnt_until_ticks = message.end_ticks;
    ++kind.seen;
    if (kind.kept.size() < kMaxMessages) {
      kind.kept.push_back(message);
    } else if (const uint64_t place = Random() % kind.seen; place < kMaxMessages) {
      kind.kept[place] = message;
    }
  }
}

Difference HealthyMessages::Compare(const MessageProfile& bad) const {
  Difference difference;
  const auto it = kinds_.find(bad.what);
  if (it == kinds_.end() || it->second.kept.size() < kFewest) return difference;
  const std::vector<MessageProfile>& kept = it->second.kept;
  std::vector<uint64_t> lengths;
  std::map<uint32_t, uint64_t> usual;
  for (const MessageProfile& message : kept) {
    lengths.push_back(message.ticks());
    for (const auto& [id, ticks] : message.methods) usual[id] += ticks;
  }
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<ptrdiff_t>(lengths.size() / 2),
                   lengths.end());
  difference.messages = it->second.seen;
  difference.median_ticks = lengths[lengths.size() / 2];
  for (const auto& [id, ticks] : bad.methods) {
    const auto known = usual.find(id);
    const uint64_t mean = known == usual.end() ? 0 : known->second / kept.size();
    if (ticks > mean) difference.methods.push_back({id, ticks - mean, mean});
  }
  CompactSort(&difference.methods, [](const ExtraMethod& a, const ExtraMethod& b) {
    return a.extra_ticks > b.extra_ticks;
  });
  if (difference.methods.size() > kMaxExtra) difference.methods.resize(kMaxExtra);
  return difference;
}

}  // namespace jankbox
