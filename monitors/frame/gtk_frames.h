// GdkFrameClock of GTK 3 and 4 as a source of frames: from before-paint to after-paint, by emission
// hooks of its signals. Nothing of GTK is linked or loaded; it is asked if the host has it.
#ifndef JANKBOX_MONITORS_FRAME_GTK_FRAMES_H_
#define JANKBOX_MONITORS_FRAME_GTK_FRAMES_H_

namespace jankbox {

// Takes its place once GTK is loaded and has a frame clock; then does nothing more. GObject's
// signals are thread-safe: any Jankbox thread, one at a time. False: GTK is not loaded.
bool FollowGtkFrames();

// Frames of GTK's clock are reported from now on, or are not.
void EnableGtkFrames(bool on);

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_GTK_FRAMES_H_
