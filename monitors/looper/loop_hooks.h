// Loops of libraries that the host uses anyway (android::Looper of libutils, GLib, libuv, …) as
// sources of dispatches, without a call by the host: the waits of those libraries are hooked in
// their own import tables, and those of the main thread and of watched ones become dispatches.
#ifndef JANKBOX_MONITORS_LOOPER_LOOP_HOOKS_H_
#define JANKBOX_MONITORS_LOOPER_LOOP_HOOKS_H_

#include <string>

#include "tracer/hook/hook_set.h"

namespace jankbox {

// Contributes the waits of loop libraries; nothing if the preload agent already is in front
// of all waits. `watched_threads`: as in jankbox_options.
void AddLoopHooks(const std::string& watched_threads, HookSet* hooks);

// The calling thread's loop is one of them from now on. False if there is no room for it.
bool WatchLoopOfThisThread();

// Notes the loop libraries that are loaded now, for the classification of callers. Returns the name
// of the library whose waits the main thread's loop was seen in; empty: none yet. Before
// HookSet::Refresh(); takes the loader's lock.
const char* FollowLoopLibraries();

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_LOOP_HOOKS_H_
