// Machines whose call instructions are not decoded here: no frame is repaired, so a stack that
// would need it is truncated.
#include "tracer/unwind/frame_repair.h"

namespace jankbox {

uint64_t FramePointerByPrologue(UnwindTables*, const FunctionRange&, uint64_t) { return 0; }

uint64_t FindSavedFramePointer(UnwindTables*, uint64_t, uint64_t) { return 0; }

bool CallCanReach(UnwindTables*, FunctionLookup*, uint64_t, const FunctionRange&) { return false; }

bool FollowsCall(UnwindTables*, uint64_t) { return false; }

}  // namespace jankbox
