// GLib's idle sources as named parts of dispatches: their common dispatch function is a word of
// GLib's public table g_idle_funcs, which is replaced by one that says what runs.
#ifndef JANKBOX_MONITORS_LOOPER_GLIB_IDLE_H_
#define JANKBOX_MONITORS_LOOPER_GLIB_IDLE_H_

namespace jankbox {

// If GLib is loaded now, and its table is as it left it. Takes the loader's lock: on a thread of
// ours. Again whenever modules came; cheap.
void FollowGlibIdle();

// Restores GLib's function if Jankbox's is still installed.
void StopGlibIdle();

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_GLIB_IDLE_H_
