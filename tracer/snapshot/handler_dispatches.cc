#include "tracer/snapshot/handler_dispatches.h"

#include <algorithm>

namespace jankbox {
namespace {

bool IsUnnamed(const EventRecord& dispatch) { return dispatch.id == 0; }

// Whether the words can contain the start of a dispatch without a name: most threads have none.
bool MayHaveUnnamed(const WindowThread& thread) {
  return std::any_of(thread.chunks.begin(), thread.chunks.end(), [](const WindowChunk& chunk) {
    return std::any_of(chunk.words.begin(), chunk.words.end(), [](uint64_t word) {
      return KindOf(word) == EventKind::kDispatchBegin && IdOf(word) == 0;
    });
  });
}

class Finder {
 public:
  Finder(uint64_t end_ticks, uint64_t slack_ticks)
      : end_ticks_(end_ticks), slack_ticks_(slack_ticks) {}

  void Walk(const WindowThread& thread) {
    for (const WindowChunk& chunk : thread.chunks) {
      if (chunk.gap_before) at_ = At::kOutside;
      EventCursor cursor(chunk);
      EventRecord event;
      while (cursor.Next(&event)) {
        if (event.ticks > end_ticks_) return Finish();
        Take(event);
      }
    }
    Finish();
  }

  std::vector<HandlerDispatch> Take() { return std::move(found_); }

 private:
  enum class At { kOutside, kLoop, kHandler, kAfterHandler };

  void Take(const EventRecord& event) {
    switch (event.kind) {
      case EventKind::kBegin:
        // Of the loop's own, not of the handler's.
        if (at_ != At::kHandler) at_ = At::kOutside;
        break;
      case EventKind::kDispatchBegin:
        Begin(event);
        break;
      case EventKind::kDispatchEnd:
        End(event.ticks);
        break;
      default:
        break;
    }
  }

  void Begin(const EventRecord& dispatch) {
    if (at_ == At::kHandler) {
      ++depth_;
    } else if (IsUnnamed(dispatch)) {
      at_ = At::kLoop;
      loop_ticks_ = dispatch.ticks;
    } else if (at_ == At::kLoop) {
      at_ = At::kHandler;
      handler_ = dispatch;
      depth_ = 1;
    } else {
      at_ = At::kOutside;
    }
  }

  void End(uint64_t ticks) {
    if (at_ == At::kHandler) {
      if (--depth_ != 0) return;
      at_ = At::kAfterHandler;
      handler_end_ticks_ = ticks;
      return;
    }
    if (at_ == At::kAfterHandler) AddIfAsLong(ticks);
    at_ = At::kOutside;
  }

  // What is open at the end lasts until then.
  void Finish() {
    if (at_ == At::kHandler) handler_end_ticks_ = end_ticks_;
    if (at_ == At::kHandler || at_ == At::kAfterHandler) AddIfAsLong(end_ticks_);
    at_ = At::kOutside;
  }

  void AddIfAsLong(uint64_t loop_end_ticks) {
    const uint64_t length = loop_end_ticks - std::min(loop_ticks_, loop_end_ticks);
    const uint64_t of_handler = handler_end_ticks_ - std::min(handler_.ticks, handler_end_ticks_);
    const uint64_t rest = length - std::min(of_handler, length);
    if (rest <= std::max(length / 100, slack_ticks_)) found_.push_back({loop_ticks_, handler_});
  }

  const uint64_t end_ticks_;
  const uint64_t slack_ticks_;
  At at_ = At::kOutside;
  uint64_t loop_ticks_ = 0;
  EventRecord handler_;
  uint64_t handler_end_ticks_ = 0;
  uint32_t depth_ = 0;  // of dispatches from the handler's on
  std::vector<HandlerDispatch> found_;
};

}  // namespace

std::vector<HandlerDispatch> FindHandlerDispatches(const WindowThread& thread, uint64_t end_ticks,
                                                   uint64_t slack_ticks) {
  if (!MayHaveUnnamed(thread)) return {};
  Finder finder(end_ticks, slack_ticks);
  finder.Walk(thread);
  return finder.Take();
}

}  // namespace jankbox
