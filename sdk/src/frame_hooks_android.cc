#include "sdk/src/choreographer_frames.h"
#include "sdk/src/frame_hooks.h"

namespace jankbox {

// FrameMetrics comes with JNI: monitors/frame/frame_metrics.h is where it will end.
void AddFrameHooks(const FrameHookSet& sources, HookSet* /*hooks*/) {
  if (sources.choreographer) StartChoreographerFrames();
}

void FollowFrameLibraries(const FrameHookSet& /*sources*/) {}

}  // namespace jankbox
