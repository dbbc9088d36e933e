#include "monitors/frame/gtk_frames.h"

namespace jankbox {

void FollowGtkFrames() {}

void EnableGtkFrames(bool /*on*/) {}

}  // namespace jankbox
