#include "tools/attach/attached_thread.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sdk/runtime/run_channel.h"

namespace jankbox::tools {

AttachedThread::AttachedThread(const Place& place, int32_t tid, std::string name)
    : lag_ns_(place.options->lag_ns),
      ring_(place.ring),
      index_(place.index),
      tid_(tid),
      name_(std::move(name)),
      recorded_(place.ring, place.index, tid, name_.c_str()) {}

Result<std::unique_ptr<AttachedThread>> AttachedThread::Open(
    const Place& place, int32_t tid, std::string name, std::shared_ptr<const TargetCode> code) {
  std::unique_ptr<AttachedThread> attached(new AttachedThread(place, tid, std::move(name)));
  Result<std::unique_ptr<WaitWatch>> waits = WaitWatch::Open(tid, std::move(code), attached.get());
  if (!waits.ok()) return waits.status();
  attached->waits_ = std::move(waits.value());
  attached->thread_ =
      std::make_unique<WatchedThread>(*place.options, place.ring, place.index, place.refusals,
                                      place.seal, NewLiveThreadSource(RecordedProcess::pid(), tid));
  return attached;
}

void AttachedThread::Look(uint64_t now_ns, const TickConverter& clock,
                          std::span<const Hold> holds) {
  if (hung_up()) return;
  clock_ = clock;
  waits_->Follow();
  if (const char* loop = waits_->loop_name(); strcmp(loop, told_loop_) != 0) {
    recorded_.NameLoop(loop);
    told_loop_ = loop;
  }
  thread_->NoteHolds(holds);
  thread_->Look(now_ns, clock);
}

void AttachedThread::Finish(uint64_t now_ns, const TickConverter& clock, bool ended) {
  waits_->Follow();
  const bool young = waits_->running() && now_ns < waits_->running_since_ns() + lag_ns_;
  if (ended && waits_->may_exit_unseen() && young) return;
  thread_->Finish(now_ns, clock);
}

void AttachedThread::Forget(uint64_t now_ns, const TickConverter& clock) {
  clock_ = clock;
  waits_->Forget(now_ns);
  thread_->Finish(now_ns, clock);
}

uint64_t AttachedThread::NextNs(uint64_t now_ns) const {
  if (hung_up()) return kHangUpNs;
  return std::min(waits_->NextNs(), thread_->NextLookNs(now_ns));
}

std::string AttachedThread::NameOfLoop() const {
  const std::string loop = waits_->loop_name();
  return loop.empty() ? "" : name() + " (" + loop + ")";
}

std::string AttachedThread::WatchedText(const std::string& process, bool ended) const {
  const uint64_t messages =
      ring_->header()->watched[index_].dispatch_count.load(std::memory_order_relaxed);
  return jankbox::WatchedText(RecordedProcess::pid(), process,
                              {.index = index_,
                               .thread = name(),
                               .loop = waits_->loop_name(),
                               .messages = messages,
                               .ended = ended});
}

void AttachedThread::OnBegin(uint64_t ns) { recorded_.BeginDispatch(clock_.FromMonotonicNs(ns)); }
void AttachedThread::OnEnd(uint64_t ns) { recorded_.EndDispatch(clock_.FromMonotonicNs(ns)); }
void AttachedThread::OnForget(uint64_t ns) { recorded_.ForgetDispatch(clock_.FromMonotonicNs(ns)); }

}  // namespace jankbox::tools
