// Frames of libraries that the host uses anyway, without a call by the host: GTK's frame clock,
// SDL's presents, buffer swaps of EGL and GLX; AChoreographer on Android. docs/frames.md says what
// each of them counts as a frame.
#ifndef JANKBOX_MONITORS_FRAME_FRAME_HOOKS_H_
#define JANKBOX_MONITORS_FRAME_FRAME_HOOKS_H_

#include "tracer/hook/hook_set.h"

namespace jankbox {

// Which sources are on.
struct FrameHookSet {
  bool choreographer = false;
  bool gtk = true;
  bool sdl = true;
  bool swap = true;
};

// Contributes the swaps; on Android attaches to the calling thread's AChoreographer. On the thread
// that starts.
void AddFrameHooks(const FrameHookSet& sources, HookSet* hooks);

// Follows libraries that were loaded since: GTK's frame clock is there once a window is. On
// Jankbox's watcher; takes the loader's lock.
void FollowFrameLibraries(const FrameHookSet& sources);

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_FRAME_HOOKS_H_
