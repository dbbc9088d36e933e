// A report's trace as the text that systrace, catapult and Perfetto read: the kernel's own form,
// `TASK-TID (TGID) [CPU] .... SECONDS.MICROSECONDS: tracing_mark_write: B|PID|NAME`. Stamps lose
// what is below a microsecond. Slices of other tracks than threads keep their nesting
// (systrace_lanes.h). Cold; allocates.
#ifndef JANKBOX_TOOLS_MERGE_SYSTRACE_TEXT_H_
#define JANKBOX_TOOLS_MERGE_SYSTRACE_TEXT_H_

#include <functional>
#include <string_view>

#include "base/status.h"
#include "tools/merge/app_trace.h"

namespace jankbox::tools {

// Hands out the text in pieces, ordered by time.
Status WriteSystrace(const AppTrace& app, const std::function<Status(std::string_view)>& write);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_SYSTRACE_TEXT_H_
