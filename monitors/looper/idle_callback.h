// Idle callbacks of the loop, work that was put off until it has nothing else to do: dispatches
// whose names start with kIdlePrefix, from the explicit calls or, for GLib's idle sources, from
// monitors/looper/glib_idle. diagnosis/blame/idle_lag finds the ones that took too long. HOT:
// NO-ALLOC, no lock, no system call.
#ifndef JANKBOX_MONITORS_LOOPER_IDLE_CALLBACK_H_
#define JANKBOX_MONITORS_LOOPER_IDLE_CALLBACK_H_

namespace jankbox {

// Starts an idle callback on this thread as a dispatch; DispatchMonitor::End() ends it.
void BeginIdleCallback(const char* what);

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_IDLE_CALLBACK_H_
