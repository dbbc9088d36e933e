#include "tracer/snapshot/thread_events.h"

#include <algorithm>

#include "tracer/event/marker_text.h"

namespace jankbox {
namespace {

// How deep an end looks for its start. Bounds the work on damaged input; an end that belongs deeper
// down counts as unmatched.
constexpr size_t kMaxSearchDepth = 1024;

// Slices of the marker lane, which a chunk's open calls do not list.
bool IsAside(const EventRecord& call) {
  return call.kind == EventKind::kMarker || call.kind == EventKind::kWait;
}

bool Matches(const EventRecord& begin, const EventRecord& end) {
  if (end.kind == EventKind::kDispatchEnd) return begin.kind == EventKind::kDispatchBegin;
  if (IsAside(end)) return begin.kind == end.kind;
  return begin.kind == EventKind::kBegin && begin.id == end.id;
}

bool SameCall(const EventRecord& event, const OpenCall& open) {
  if (event.kind != open.kind || event.ticks != open.ticks) return false;
  return event.kind == EventKind::kDispatchBegin || event.id == open.id;
}

EventRecord ToRecord(const OpenCall& open) {
  const bool dispatch = open.kind == EventKind::kDispatchBegin;
  return {.kind = dispatch ? EventKind::kDispatchBegin : EventKind::kBegin,
          .id = dispatch ? 0 : open.id,  // of a dispatch: no bytes of a name
          .ticks = open.ticks};
}

}  // namespace

ThreadEvents::Counts ThreadEvents::Walk(const WindowThread& thread) {
  AsideEvents asides(thread);
  asides_ = &asides;
  bool first = true;
  for (const WindowChunk& chunk : thread.chunks) {
    if (sink_->Stopped()) return counts_;
    if (!first && chunk.base_ticks > end_ticks_) continue;
    if (first) {
      OpenFirstCalls(chunk);
    } else {
      Reconcile(chunk);
    }
    first = false;
    EventCursor cursor(chunk);
    EventRecord event, call;
    do {
      while (cursor.NextCall(&call)) {
        DrainAsides(call.ticks);
        HandleCall(call);
      }
      if (!cursor.Next(&event)) break;
      DrainAsides(event.ticks);
      Handle(event);
    } while (true);
    if (cursor.torn()) ++counts_.torn_events;
  }
  DrainAsides(end_ticks_);
  counts_.torn_events += asides.torn_events();
  if (!in_window_) EnterWindow();
  CloseDownTo(0, end_ticks_, kOpenAtWindowEnd);
  return counts_;
}

void ThreadEvents::OpenFirstCalls(const WindowChunk& chunk) {
  for (const OpenCall& open : chunk.open_calls) {
    if (open.ticks > end_ticks_) return;  // the chunk is after the window
    DrainAsides(open.ticks);
    now_ = std::max(now_, std::min(open.ticks, chunk.base_ticks));
    Push(ToRecord(open), now_, 0);
  }
  PushHidden(chunk.open_calls_truncated);
}

void ThreadEvents::HandleAside() {
  const bool gap = asides_->gap();
  const std::vector<EventRecord> carried = gap ? asides_->carried() : std::vector<EventRecord>();
  const EventRecord event = asides_->Pop();
  if (event.ticks > end_ticks_) return;
  if (!in_window_ && event.ticks >= from_ticks_) EnterWindow();
  now_ = std::max(now_, event.ticks);
  if (gap) {
    ReconcileMarkers(carried);
  } else if (event.kind == EventKind::kMarker) {
    HandleMarker(event);
  } else if (event.kind != EventKind::kWait) {
    if (in_window_) sink_->Record(event);
  } else if ((event.id & kWaitEnd) != 0) {
    Pop(event);
  } else {
    Push(event, now_, 0);
  }
}

void ThreadEvents::HandleMarker(const EventRecord& marker) {
  const size_t carried = (marker.id & kCarriedMarker) != 0 ? 2 : 0;
  if (marker.payload.size() <= carried) return;  // no text
  switch (static_cast<MarkerKind>(PayloadOf(marker.payload[carried]) & 0xff)) {
    case MarkerKind::kBegin:
      return Push(marker, now_, 0);
    case MarkerKind::kEnd:
      return Pop(marker);
    case MarkerKind::kAsyncBegin:
    case MarkerKind::kAsyncEnd:
    case MarkerKind::kTrackBegin:
    case MarkerKind::kTrackEnd:
      return sink_->Record(marker);
    default:
      if (in_window_) sink_->Record(marker);
  }
}

// After a gap: closes the markers that are gone with what is open above them, and opens those
// that came.
void ThreadEvents::ReconcileMarkers(const std::vector<EventRecord>& carried) {
  size_t shared = 0;
  for (size_t depth = 0; depth < calls_.size(); ++depth) {
    if (!IsAside(calls_[depth].event)) continue;
    if (shared < carried.size() && calls_[depth].event.ticks == carried[shared].ticks) {
      ++shared;
      continue;
    }
    CloseDownTo(depth, now_, kEndLost);
    break;
  }
  for (; shared < carried.size(); ++shared) Push(carried[shared], now_, kBeginLost);
}

// At a gap: closes the calls that are gone and opens those that came, both at the gap's end.
// Without one the chunk lists just what is open.
void ThreadEvents::Reconcile(const WindowChunk& chunk) {
  size_t listed = 0;
  const size_t shared = SharedDepth(chunk, &listed);
  if (!chunk.gap_before && listed == chunk.open_calls.size() &&
      Depth() == listed + uint64_t{chunk.open_calls_truncated}) {
    return;
  }
  DrainAsides(chunk.base_ticks);
  if (!in_window_ && chunk.base_ticks >= from_ticks_) EnterWindow();
  now_ = std::max(now_, chunk.base_ticks);
  CloseDownTo(shared, now_, kEndLost);
  for (size_t i = listed; i < chunk.open_calls.size(); ++i) {
    Push(ToRecord(chunk.open_calls[i]), now_, kBeginLost);
  }
  PushHidden(chunk.open_calls_truncated);
}

// How many of the calls, from the outermost, stay open: those that the chunk lists, `listed` of
// them, and the markers and waits between them.
size_t ThreadEvents::SharedDepth(const WindowChunk& chunk, size_t* listed) const {
  size_t depth = 0;
  *listed = 0;
  while (depth < calls_.size()) {
    const EventRecord& call = calls_[depth].event;
    if (!IsAside(call)) {
      if (*listed == chunk.open_calls.size() || !SameCall(call, chunk.open_calls[*listed])) break;
      ++*listed;
    }
    ++depth;
  }
  return depth;
}

// Of calls that a chunk lists.
uint64_t ThreadEvents::Depth() const {
  uint64_t depth = 0;
  for (const StackedCall& call : calls_) {
    if (!IsAside(call.event)) depth += call.hidden != 0 ? call.hidden : 1;
  }
  return depth;
}

// A method's begin or end: inside the window, and if the end is the innermost call's, there is
// little to do.
void ThreadEvents::HandleCall(const EventRecord& event) {
  if (__builtin_expect(!in_window_ || event.ticks > end_ticks_, 0)) return Handle(event);
  now_ = std::max(now_, event.ticks);
  if (event.kind == EventKind::kBegin) {
    // By fields: a copy of the whole record would wait for its parts to be stored.
    StackedCall& call = calls_.push();
    call.event.kind = EventKind::kBegin;
    call.event.id = event.id;
    call.event.ticks = event.ticks;
    call.event.payload = {};
    call.begin_ticks = now_;
    call.notes = 0;
    call.hidden = 0;
    sink_->Begin(event, now_, 0);
  } else if (!calls_.empty() && calls_.back().hidden == 0 && Matches(calls_.back().event, event)) {
    sink_->End(calls_.back().event, now_, 0);
    calls_.pop();
  } else {
    Pop(event);
  }
}

void ThreadEvents::Handle(const EventRecord& event) {
  if (event.ticks > end_ticks_) return;
  switch (event.kind) {
    case EventKind::kFrame:
    case EventKind::kStackSample:
      if (event.ticks >= from_ticks_) sink_->Record(event);
      return;
    case EventKind::kAsyncBegin:
    case EventKind::kAsyncEnd:
    case EventKind::kCounter:
      counts_.has_process_events = true;
      return;
    default:
      break;
  }
  if (!in_window_ && event.ticks >= from_ticks_) EnterWindow();
  now_ = std::max(now_, event.ticks);
  switch (event.kind) {
    case EventKind::kBegin:
    case EventKind::kDispatchBegin:
      Push(event, now_, 0);
      break;
    case EventKind::kEnd:
    case EventKind::kDispatchEnd:
      Pop(event);
      break;
    default:
      if (in_window_) sink_->Instant(event.id, now_);
      break;
  }
}

// A call that is open here began earlier, and is drawn from where it began.
void ThreadEvents::EnterWindow() {
  in_window_ = true;
  for (StackedCall& call : calls_) {
    if (call.begin_ticks < from_ticks_) call.notes |= kBeganBeforeWindow;
    if (call.hidden == 0) sink_->Begin(call.event, call.begin_ticks, call.notes);
  }
}

void ThreadEvents::Push(const EventRecord& event, uint64_t begin_ticks, uint32_t notes) {
  calls_.push() = {.event = event, .begin_ticks = begin_ticks, .notes = notes};
  if (in_window_) sink_->Begin(event, begin_ticks, notes);
}

void ThreadEvents::PushHidden(uint32_t count) {
  if (count != 0) calls_.push() = {.begin_ticks = now_, .hidden = count};
}

void ThreadEvents::Pop(const EventRecord& end) {
  const size_t lowest = calls_.size() > kMaxSearchDepth ? calls_.size() - kMaxSearchDepth : 0;
  for (size_t depth = calls_.size(); depth > lowest; --depth) {
    StackedCall& call = calls_[depth - 1];
    if (call.hidden != 0 && end.kind == EventKind::kEnd) {  // ids not known: trust the nesting
      CloseDownTo(depth, now_, kEndMissing);
      if (--call.hidden == 0) calls_.pop();
      return;
    }
    if (Matches(call.event, end)) {
      CloseDownTo(depth, now_, kEndMissing);
      if (end.kind == EventKind::kWait) call.event = end;  // says the result
      CloseDownTo(depth - 1, now_, 0);
      return;
    }
  }
  if (in_window_) ++counts_.unmatched_ends;
}

void ThreadEvents::CloseDownTo(size_t depth, uint64_t ticks, uint32_t notes) {
  while (calls_.size() > depth) {
    const StackedCall& call = calls_.back();
    if (in_window_ && call.hidden == 0) {
      sink_->End(call.event, ticks, notes);
      if ((notes & kOpenAtWindowEnd) != 0) ++counts_.open_slices;
      if ((notes & kEndMissing) != 0) ++counts_.repaired_slices;
    }
    calls_.pop();
  }
}

}  // namespace jankbox
