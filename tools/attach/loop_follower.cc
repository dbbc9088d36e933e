#include "tools/attach/loop_follower.h"

namespace jankbox::tools {

void LoopFollower::Begin(uint64_t ns, bool inferred) {
  state_ = State::kRunning;
  begin_ns_ = ns;
  inferred_ = inferred;
  asked_ns_ = ns;
  sink_->OnBegin(ns);
}

void LoopFollower::End(uint64_t ns) {
  if (state_ == State::kWaiting) Begin(ReturnNs(), true);  // too short to be asked about
  if (state_ == State::kRunning) sink_->OnEnd(ns);
}

void LoopFollower::Wait(uint64_t ns) {
  state_ = State::kWaiting;
  wait_ns_ = ns;
  blocked_ = false;
  resumed_ns_ = 0;
}

void LoopFollower::OnCall(uint64_t ns, const WaitCall& call, LoopModule module) {
  if (state_ == State::kExited) return;
  if (!waits_.DecideWait(call, module)) {
    if (state_ == State::kWaiting) Begin(ReturnNs(), false);
    inferred_ = false;
    return;
  }
  End(ns);
  Wait(ns);
  stack_ = call.stack;
}

void LoopFollower::OnReturn(uint64_t ns) {
  if (state_ == State::kWaiting) Begin(ns, false);
}

void LoopFollower::OnSwitchOut(bool preempted) {
  if (state_ == State::kWaiting && !preempted) blocked_ = true;
}

void LoopFollower::OnSwitchIn(uint64_t ns) {
  if (state_ == State::kWaiting && blocked_ && resumed_ns_ == 0) resumed_ns_ = ns;
}

void LoopFollower::OnUnknownBlock(uint64_t ns) {
  if (state_ == State::kRunning) OnLoopBlock(ns);
}

void LoopFollower::OnLoopBlock(uint64_t ns) {
  if (state_ == State::kExited) return;
  End(ns);
  Wait(ns);
  blocked_ = true;
}

void LoopFollower::OnLoss(uint64_t ns) {
  if (state_ == State::kExited) return;
  if (state_ == State::kRunning) sink_->OnForget(ns);
  state_ = State::kUnknown;
}

void LoopFollower::OnDoubt(uint64_t now_ns) {
  inferred_ = true;
  asked_ns_ = now_ns;
}

void LoopFollower::OnExit(uint64_t ns) {
  OnLoss(ns);
  state_ = State::kExited;
}

bool LoopFollower::IsDoubtful(uint64_t now_ns) const {
  if (state_ == State::kRunning) return inferred_ && now_ns > asked_ns_ + kAskAgainNs;
  if (state_ != State::kWaiting || (blocked_ && resumed_ns_ == 0)) return false;
  return now_ns > ReturnNs() + kDoubtNs;
}

void LoopFollower::OnAnswer(uint64_t now_ns, bool waits) {
  asked_ns_ = now_ns;
  if (!waits) {
    if (state_ == State::kWaiting) Begin(ReturnNs(), true);
    return;
  }
  // It was woken for nothing, and blocks again.
  if (state_ == State::kRunning) sink_->OnForget(now_ns);
  state_ = State::kWaiting;
  blocked_ = true;
  resumed_ns_ = 0;
}

}  // namespace jankbox::tools
