// Which lines of systrace text a track's slices become. The text has nested slices of threads (B
// and E) and asynchronous ones, which do not nest. A track whose slices nest, or which belongs to a
// thread, therefore becomes a thread of its own: one row in viewers, as in the report's trace.
// Pure; allocates.
#ifndef JANKBOX_TOOLS_MERGE_SYSTRACE_LANES_H_
#define JANKBOX_TOOLS_MERGE_SYSTRACE_LANES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/merge/app_trace.h"

namespace jankbox::tools {

struct SystraceLane {
  int32_t tid = 0;  // of its lines
  std::string comm;
  uint32_t cookie = 0;  // of asynchronous slices; 0: B and E
};

// By number of the track in `app`.
std::vector<SystraceLane> LanesOf(const AppTrace& app);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_SYSTRACE_LANES_H_
