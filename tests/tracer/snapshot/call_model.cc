#include "tests/tracer/snapshot/call_model.h"

#include <algorithm>

namespace jankbox::testing {
namespace {

// Words of an event in the ring, as plainly as can be.
struct Played {
  EventKind kind;
  uint32_t id;
  uint64_t ticks;
  std::string text;
};

std::vector<Played> Play(const WindowChunk& chunk) {
  std::vector<Played> played;
  uint64_t base = chunk.base_ticks;
  for (size_t i = 0; i < chunk.words.size(); ++i) {
    const uint64_t word = chunk.words[i];
    const auto kind = static_cast<EventKind>(word & 15);
    const auto id = static_cast<uint32_t>((word >> 4) & 0xffffff);
    if (kind == EventKind::kPayload) continue;
    if (kind == EventKind::kRebase) {
      base = chunk.words[i + 1] >> 4 | (chunk.words[i + 2] >> 4) << 60;
      continue;
    }
    const int64_t from_base = static_cast<int64_t>(((word >> 28) - base) << 28) >> 28;
    Played event = {kind, id, base + static_cast<uint64_t>(from_base), {}};
    for (uint32_t k = 0; kind == EventKind::kDispatchBegin && k < id; ++k) {
      event.text += static_cast<char>(chunk.words[i + 1 + k / 7] >> (4 + 8 * (k % 7)));
    }
    played.push_back(event);
  }
  return played;
}

std::string Line(uint64_t begin, uint64_t end, size_t depth, const std::string& name,
                 std::vector<std::string> flags) {
  std::sort(flags.begin(), flags.end());
  std::string line = std::to_string(begin) + "+" + std::to_string(end - begin) + " " +
                     std::to_string(depth) + " " + name;
  for (const std::string& flag : flags) line += " " + flag;
  return line;
}

std::string MethodName(uint32_t id) { return "m" + std::to_string(id); }

bool IsDispatch(EventKind kind) {
  return kind == EventKind::kDispatchBegin || kind == EventKind::kDispatchEnd;
}
bool IsBegin(EventKind kind) {
  return kind == EventKind::kBegin || kind == EventKind::kDispatchBegin;
}
bool IsEnd(EventKind kind) { return kind == EventKind::kEnd || kind == EventKind::kDispatchEnd; }

// Plays chunks through, call by call.
class Player {
 public:
  explicit Player(const RingWindow& window) : window_(window) {}

  void PlayChunk(const WindowChunk& chunk, bool first) {
    Carry(chunk, first);
    for (const Played& event : Play(chunk)) {
      if (event.ticks > window_.to_ticks) break;
      if (IsBegin(event.kind)) Begin(event);
      if (IsEnd(event.kind)) End(event);
    }
  }

  ModelResult Finish() {
    result_.open_slices = open_.size();
    CloseFrom(0, window_.to_ticks, "open_at_window_end");
    for (Call& call : all_) {
      if (call.end < window_.from_ticks) continue;
      if (call.begin < window_.from_ticks) call.flags.push_back("began_before_window");
      result_.slices.push_back(Line(call.begin, call.end, call.depth, call.name, call.flags));
    }
    return result_;
  }

 private:
  struct Call {
    bool dispatch = false;
    uint32_t id = 0;
    uint64_t true_begin = 0;
    uint64_t begin = 0;
    std::string name;
    std::vector<std::string> flags;
    uint64_t end = 0;
    size_t depth = 0;
  };

  // The calls that were open when the chunk was taken: those that are open here and not there lost
  // their ends, those that are open there and not here their begins.
  void Carry(const WindowChunk& chunk, bool first) {
    size_t same = 0;
    while (!first && same < open_.size() && same < chunk.open_calls.size() &&
           all_[open_[same]].true_begin == chunk.open_calls[same].ticks) {
      ++same;
    }
    CloseFrom(same, chunk.base_ticks, "end_lost");
    for (size_t i = same; i < chunk.open_calls.size(); ++i) {
      const OpenCall& call = chunk.open_calls[i];
      if (call.ticks > window_.to_ticks) break;
      const bool dispatch = IsDispatch(call.kind);
      Call opened = {dispatch, call.id, call.ticks, first ? call.ticks : chunk.base_ticks,
                     dispatch ? "dispatch" : MethodName(call.id)};
      if (!first) opened.flags.push_back("begin_lost");
      Push(opened);
    }
  }

  void Begin(const Played& event) {
    const bool dispatch = IsDispatch(event.kind);
    Push({dispatch, dispatch ? 0 : event.id, event.ticks, event.ticks,
          dispatch ? event.text : MethodName(event.id)});
  }

  void End(const Played& event) {
    const bool dispatch = IsDispatch(event.kind);
    size_t depth = open_.size();
    while (depth > 0 && (all_[open_[depth - 1]].dispatch != dispatch ||
                         (!dispatch && all_[open_[depth - 1]].id != event.id))) {
      --depth;
    }
    if (depth > 0) {
      CloseFrom(depth, event.ticks, "end_missing");
      CloseFrom(depth - 1, event.ticks, nullptr);
    } else if (event.ticks >= window_.from_ticks) {
      ++result_.unmatched_ends;
    }
  }

  void Push(const Call& call) {
    open_.push_back(all_.size());
    all_.push_back(call);
    all_.back().depth = open_.size() - 1;
  }

  void CloseFrom(size_t depth, uint64_t at, const char* flag) {
    for (; open_.size() > depth; open_.pop_back()) {
      all_[open_.back()].end = at;
      if (flag != nullptr) all_[open_.back()].flags.push_back(flag);
    }
  }

  const RingWindow& window_;
  std::vector<Call> all_;
  std::vector<size_t> open_;  // of all_, the innermost last
  ModelResult result_;
};

}  // namespace

std::string DispatchText(uint32_t id) { return "message " + std::to_string(id); }

CallHistory RandomCalls(std::mt19937* random, size_t events, uint64_t first_ticks, bool damaged) {
  CallHistory history;
  std::vector<size_t> open;
  uint64_t now = first_ticks;
  auto chance = [&](int percent) { return static_cast<int>((*random)() % 100) < percent; };
  while (history.events.size() < events) {
    now += 1 + (*random)() % (chance(2) ? 20'000 : 40);
    if (chance(4)) {
      history.events.push_back(
          {EventKind::kInstant, 1 + static_cast<uint32_t>((*random)() % 9), now});
      continue;
    }
    if (damaged && chance(3)) {  // an end that belongs to nothing, or to something far out
      history.events.push_back(chance(20) ? DispatchEnd(now) : End(1 + (*random)() % 9, now));
      continue;
    }
    if (open.size() < 12 && (open.empty() || chance(50))) {
      TrueCall call = {.dispatch = open.empty() ? chance(60) : chance(5),
                       .id = 1 + static_cast<uint32_t>((*random)() % 9),
                       .begin = now,
                       .parent = open.empty() ? SIZE_MAX : open.back()};
      history.events.push_back(call.dispatch ? DispatchBegin(DispatchText(call.id), now)
                                             : Begin(call.id, now));
      open.push_back(history.calls.size());
      history.calls.push_back(call);
      continue;
    }
    TrueCall& call = history.calls[open.back()];
    open.pop_back();
    if (damaged && chance(5)) continue;  // its end is missing
    call.end = now;
    history.events.push_back(call.dispatch ? DispatchEnd(now) : End(call.id, now));
  }
  return history;
}

std::vector<WindowChunk> CutIntoChunks(const std::vector<TestEvent>& events, std::mt19937* random) {
  std::vector<WindowChunk> chunks;
  std::vector<OpenCall> open;
  size_t left = 0;
  for (const TestEvent& event : events) {
    if (left == 0) {
      left = 1 + (*random)() % 60;
      WindowChunk chunk;
      chunk.sequence = chunks.size() + 1;
      chunk.base_ticks = event.ticks;
      chunk.open_calls = open;
      chunks.push_back(chunk);
    }
    --left;
    ChunkWords& words = chunks.back().words;
    if ((*random)() % 20 == 0) {
      for (uint64_t word : Words({EventKind::kRebase, 0, event.ticks, {event.ticks, 0}})) {
        words.push_back(word);
      }
    }
    for (uint64_t word : Words(event)) words.push_back(word);
    if (event.kind == EventKind::kBegin || event.kind == EventKind::kDispatchBegin) {
      open.push_back({event.kind == EventKind::kBegin ? event.id : 0, event.kind, event.ticks});
    } else if (event.kind == EventKind::kEnd || event.kind == EventKind::kDispatchEnd) {
      auto begin = std::find_if(open.rbegin(), open.rend(), [&](const OpenCall& call) {
        return event.kind == EventKind::kDispatchEnd
                   ? call.kind == EventKind::kDispatchBegin
                   : call.kind == EventKind::kBegin && call.id == event.id;
      });
      if (begin != open.rend()) open.erase(std::prev(begin.base()), open.end());
    }
  }
  return chunks;
}

void LoseChunks(std::vector<WindowChunk>* chunks, bool gaps, std::mt19937* random) {
  chunks->erase(chunks->begin(),
                chunks->begin() + static_cast<ptrdiff_t>((*random)() % (chunks->size() / 2 + 1)));
  for (size_t i = 1; gaps && i < chunks->size(); ++i) {
    if ((*random)() % 5 != 0) continue;
    chunks->erase(chunks->begin() + static_cast<ptrdiff_t>(i));
    if (i < chunks->size()) (*chunks)[i].gap_before = true;
  }
}

std::vector<std::string> ExpectedFromTruth(const CallHistory& history,
                                           const std::vector<WindowChunk>& chunks,
                                           const RingWindow& window) {
  const uint64_t known_from = std::max(window.from_ticks, chunks.front().base_ticks);
  const uint64_t first_kept = chunks.front().base_ticks;
  std::vector<std::string> lines;
  for (const TrueCall& call : history.calls) {
    if (call.begin > window.to_ticks || call.end < known_from) continue;
    size_t depth = 0;
    for (size_t at = call.parent; at != SIZE_MAX; at = history.calls[at].parent) ++depth;
    std::vector<std::string> flags;
    if (call.begin < window.from_ticks) flags.push_back("began_before_window");
    if (call.end > window.to_ticks) flags.push_back("open_at_window_end");
    // The name of a dispatch is in its begin event alone.
    const std::string dispatch = call.begin < first_kept ? "dispatch" : DispatchText(call.id);
    lines.push_back(Line(call.begin, std::min(call.end, window.to_ticks), depth,
                         call.dispatch ? dispatch : MethodName(call.id), flags));
  }
  return lines;
}

ModelResult ExpectedFromChunks(const std::vector<WindowChunk>& chunks, const RingWindow& window) {
  Player player(window);
  for (size_t c = 0; c < chunks.size(); ++c) {
    if (c > 0 && chunks[c].base_ticks > window.to_ticks) break;
    player.PlayChunk(chunks[c], c == 0);
  }
  return player.Finish();
}

}  // namespace jankbox::testing
