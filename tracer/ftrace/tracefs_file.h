// Writes to the control files of tracefs: one write(2) each, as the kernel takes them, and the
// kernel's errno reported by path. Blocking; not for the app's threads.
#ifndef JANKBOX_TRACER_FTRACE_TRACEFS_FILE_H_
#define JANKBOX_TRACER_FTRACE_TRACEFS_FILE_H_

#include <string>
#include <string_view>

#include "base/status.h"

namespace jankbox {

// The path of tracefs if instances can be made there; else why not: not mounted, not permitted, or
// a pid namespace of its own, whose thread ids are not the kernel's.
Result<std::string> FindTracefs();

Status WriteTracefs(const std::string& path, std::string_view text);

// Opens with O_TRUNC and writes nothing: the way to empty a list such as set_event_pid.
Status EmptyTracefs(const std::string& path);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_FTRACE_TRACEFS_FILE_H_
