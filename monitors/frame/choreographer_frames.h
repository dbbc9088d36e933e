// AChoreographer as a source of frames: how late the thread hears of each vsync, which is how long
// the last frame held it. Wakes the thread at every vsync, so it is on only by request. API 24;
// vsync ids and deadlines from 33, the display's interval from two vsyncs. Android only; not yet
// run on a device.
#ifndef JANKBOX_MONITORS_FRAME_CHOREOGRAPHER_FRAMES_H_
#define JANKBOX_MONITORS_FRAME_CHOREOGRAPHER_FRAMES_H_

namespace jankbox {

// Attaches to the calling thread's AChoreographer; nothing if it has none (no Looper, API below
// 24), or it is attached already. It ends when recording stops.
void StartChoreographerFrames();

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_CHOREOGRAPHER_FRAMES_H_
