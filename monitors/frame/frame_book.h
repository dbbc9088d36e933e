// The statistics of the frames of this process: for each scene the statistics of its last ten
// seconds of frames, and the latest janky frames in full. Written by the watcher, read for every
// report. THREAD-SAFE: a lock; allocates.
#ifndef JANKBOX_MONITORS_FRAME_FRAME_BOOK_H_
#define JANKBOX_MONITORS_FRAME_FRAME_BOOK_H_

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "monitors/frame/frame_queue.h"
#include "monitors/frame/scene_frames.h"

namespace jankbox {

struct NamedSceneFrames {
  std::string scene;  // "" if the app says none
  SceneFrames frames;
};

struct JankyFrame {
  FrameEvent frame;
  std::string scene;
};

struct FrameSummary {
  std::vector<NamedSceneFrames> scenes;  // the latest first
  std::vector<JankyFrame> janky;         // oldest first
  uint64_t lost = 0;                     // frames that are in no statistics: too many at once
};

class FrameBook {
 public:
  // Matrix' FrameTracer: every ten seconds, of more than 20 frames.
  static constexpr uint64_t kPeriodNs = 10'000'000'000;
  static constexpr uint64_t kMinFrames = 20;
  static constexpr size_t kMaxScenes = 16;  // those with the latest frames
  static constexpr size_t kMaxJanky = 16;

  static FrameBook& Get();

  void Clear();
  void Add(const QueuedFrame& queued, bool janky);
  void AddLost(uint64_t frames);

  // Scenes whose ten seconds are not over yet are there with what they have so far, unless they had
  // ten seconds before.
  FrameSummary Summary() const;

 private:
  struct Scene {
    uint32_t number = 0;
    SceneCounter running;
    SceneFrames last;  // of no frames: none yet
  };

  Scene* SceneOf(uint32_t number) REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::vector<std::unique_ptr<Scene>> scenes_ GUARDED_BY(mutex_);  // the latest first
  std::vector<QueuedFrame> janky_ GUARDED_BY(mutex_);
  uint64_t lost_ GUARDED_BY(mutex_) = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_FRAME_BOOK_H_
