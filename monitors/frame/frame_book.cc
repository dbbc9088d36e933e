#include "monitors/frame/frame_book.h"

#include "base/mutex.h"
#include "monitors/frame/state_tags.h"

namespace jankbox {

FrameBook& FrameBook::Get() {
  // Never destroyed: reports are written until the very end.
  return MakeOnce([] { return new FrameBook(); });
}

void FrameBook::Clear() {
  MutexLock lock(&mutex_);
  scenes_.clear();
  janky_.clear();
  lost_ = 0;
}

// The scene of the latest frame is first.
FrameBook::Scene* FrameBook::SceneOf(uint32_t number) {
  size_t at = 0;
  while (at < scenes_.size() && scenes_[at]->number != number) ++at;
  if (at == scenes_.size()) {
    if (at == kMaxScenes) {
      scenes_.pop_back();
      --at;
    }
    scenes_.push_back(std::make_unique<Scene>());
    scenes_.back()->number = number;
  }
  for (; at > 0; --at) scenes_[at].swap(scenes_[at - 1]);
  return scenes_.front().get();
}

void FrameBook::Add(const QueuedFrame& queued, bool janky) {
  MutexLock lock(&mutex_);
  Scene* scene = SceneOf(queued.scene);
  const FrameEvent& frame = queued.frame;
  const SceneCounter& running = scene->running;
  if (running.frames() > kMinFrames && frame.end_ns >= running.from_ns() + kPeriodNs) {
    scene->last = running.Result();
    scene->running = SceneCounter();
  }
  scene->running.Add(frame, janky);
  if (!janky) return;
  if (janky_.size() == kMaxJanky) janky_.erase(janky_.begin());
  janky_.push_back(queued);
}

void FrameBook::AddLost(uint64_t frames) {
  MutexLock lock(&mutex_);
  lost_ += frames;
}

FrameSummary FrameBook::Summary() const {
  MutexLock lock(&mutex_);
  const StateTags& tags = StateTags::Get();
  FrameSummary summary;
  for (const auto& scene : scenes_) {
    const bool has_period = scene->last.frames != 0;
    summary.scenes.push_back(
        {tags.SceneName(scene->number), has_period ? scene->last : scene->running.Result()});
  }
  for (const QueuedFrame& queued : janky_) {
    summary.janky.push_back({queued.frame, tags.SceneName(queued.scene)});
  }
  summary.lost = lost_;
  return summary;
}

}  // namespace jankbox
