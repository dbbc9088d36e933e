#include "monitors/looper/glib_idle.h"

namespace jankbox {

// Android's own idle handlers come with the Java shim: MessageQueue.mIdleHandlers through JNI, and
// a dispatch of JANKBOX_IDLE_PREFIX around each.
void FollowGlibIdle() {}

void StopGlibIdle() {}

}  // namespace jankbox
