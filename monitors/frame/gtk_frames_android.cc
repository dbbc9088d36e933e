#include "monitors/frame/gtk_frames.h"

namespace jankbox {

bool FollowGtkFrames() { return false; }

void EnableGtkFrames(bool /*on*/) {}

}  // namespace jankbox
