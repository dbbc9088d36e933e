#include "monitors/method/thread_calls.h"

#include <algorithm>

namespace jankbox {

void ThreadCalls::Apply(const EventRecord& event) {
  switch (event.kind) {
    case EventKind::kBegin:
      return Push(event.id, /*dispatch=*/false, event.ticks);
    case EventKind::kEnd:
      return Pop(event.id, /*dispatch=*/false, event.ticks);
    case EventKind::kDispatchBegin:
      return Push(0, /*dispatch=*/true, event.ticks);
    case EventKind::kDispatchEnd:
      return Pop(0, /*dispatch=*/true, event.ticks);
    case EventKind::kFrame:
      return RuleOut();  // it delimits work as a dispatch does, and has a monitor of its own
    default:
      return;
  }
}

void ThreadCalls::Push(uint32_t id, bool dispatch, uint64_t ticks) {
  ConfirmAlive();
  if (dispatch) RuleOut();
  if (open_.size() == kMaxOpen) {
    ++inner_;
    return;
  }
  open_.push_back({.begin_ticks = ticks,
                   .id = id,
                   .dispatch = dispatch,
                   .outermost = !dispatch && !has_called_,
                   .ruled_out = dispatches_ != 0});
  if (dispatch) ++dispatches_;
  has_called_ = true;
}

// An end closes its own begin and all calls inside, whose own ends are missing: nothing is known
// of when these ended.
void ThreadCalls::Pop(uint32_t id, bool dispatch, uint64_t ticks) {
  if (inner_ != 0) {
    --inner_;
    return;
  }
  const auto match = std::find_if(open_.rbegin(), open_.rend(), [&](const Open& call) {
    return call.id == id && call.dispatch == dispatch;
  });
  if (match == open_.rend()) return;
  const Open ended = *match;
  Shrink(static_cast<size_t>(open_.rend() - match) - 1);
  if (!dispatch) Finish(ended, ticks);
}

void ThreadCalls::Shrink(size_t size) {
  for (size_t i = size; i < open_.size(); ++i) dispatches_ -= open_[i].dispatch ? 1 : 0;
  open_.resize(size);
}

void ThreadCalls::Finish(const Open& call, uint64_t ticks) {
  if (call.ruled_out) return;
  const MethodCall ended = {call.id, call.begin_ticks, ticks};
  if (call.outermost) {
    outermost_ = ended;
  } else {
    Judge(ended, call.reported_ns);
  }
}

// What is reported of an inner call is not reported of those around it.
void ThreadCalls::Judge(const MethodCall& call, uint64_t reported_ns) {
  const uint64_t now_reported_ns = judge_->OnEnded(call, reported_ns);
  if (now_reported_ns <= reported_ns) return;
  for (Open& outer : open_) outer.reported_ns += now_reported_ns - reported_ns;
}

void ThreadCalls::ConfirmAlive() {
  if (!outermost_) return;
  const MethodCall call = *outermost_;
  outermost_.reset();
  Judge(call, 0);
}

bool ThreadCalls::IsSame(const Open& call, const OpenCall& other) {
  return call.begin_ticks == other.ticks && call.id == other.id &&
         call.dispatch == (other.kind == EventKind::kDispatchBegin);
}

size_t ThreadCalls::SameUntil(const std::vector<OpenCall>& open) const {
  size_t same = 0;
  while (same < open_.size() && same < open.size() && IsSame(open_[same], open[same])) ++same;
  return same;
}

bool ThreadCalls::HasEnded(const std::vector<OpenCall>& open, uint64_t begin_ticks) const {
  return std::any_of(open_.begin() + static_cast<ptrdiff_t>(SameUntil(open)), open_.end(),
                     [begin_ticks](const Open& call) {
                       return !call.dispatch && !call.ruled_out && call.begin_ticks <= begin_ticks;
                     });
}

void ThreadCalls::Resume(const std::vector<OpenCall>& open, uint32_t truncated,
                         uint64_t seen_ticks) {
  const size_t same = SameUntil(open);
  while (open_.size() > same) {
    const Open ended = open_.back();
    Shrink(open_.size() - 1);
    if (!ended.dispatch) Finish(ended, seen_ticks);
  }
  inner_ = 0;
  for (size_t i = same; i < open.size(); ++i) {
    Push(open[i].id, open[i].kind == EventKind::kDispatchBegin, open[i].ticks);
  }
  inner_ = truncated;
  has_called_ = true;
}

void ThreadCalls::EndThread(uint64_t ticks) {
  outermost_.reset();
  inner_ = 0;
  while (!open_.empty()) {
    const Open ended = open_.back();
    Shrink(open_.size() - 1);
    if (!ended.dispatch && !ended.outermost) Finish(ended, ticks);
  }
}

void ThreadCalls::RuleOut(uint64_t begin_ticks) {
  for (Open& call : open_) call.ruled_out = call.ruled_out || call.begin_ticks <= begin_ticks;
}

std::optional<ThreadCalls::Suspect> ThreadCalls::suspect() const {
  for (auto call = open_.rbegin(); call != open_.rend(); ++call) {
    if (call->dispatch || call->ruled_out) continue;
    return Suspect{call->id, call->begin_ticks, call->outermost};
  }
  return std::nullopt;
}

}  // namespace jankbox
