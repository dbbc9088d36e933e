#include "monitors/frame/choreographer_frames.h"
#include "monitors/frame/frame_hooks.h"

namespace jankbox {

// FrameMetrics comes by calls, from sdk/android.
void AddFrameHooks(const FrameHookSet& sources, HookSet* /*hooks*/) {
  if (sources.choreographer) StartChoreographerFrames();
}

void FollowFrameLibraries(const FrameHookSet& /*sources*/) {}

}  // namespace jankbox
