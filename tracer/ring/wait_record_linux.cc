#include "tracer/ring/wait_record.h"

namespace jankbox {

bool DecodeBinderRecord(const EventRecord& /*record*/, WaitEvent* /*wait*/) { return false; }

}  // namespace jankbox
