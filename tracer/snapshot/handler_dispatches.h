// The dispatches of a thread that do nothing but call one handler: a loop that is watched from
// outside has dispatches without a name, and the handler's, which has one, is as long. Both are one
// slice in a trace. Sealing thread or programs; pure.
#ifndef JANKBOX_TRACER_SNAPSHOT_HANDLER_DISPATCHES_H_
#define JANKBOX_TRACER_SNAPSHOT_HANDLER_DISPATCHES_H_

#include <cstdint>
#include <vector>

#include "tracer/ring/ring_window.h"

namespace jankbox {

struct HandlerDispatch {
  uint64_t loop_ticks = 0;  // when the dispatch without a name began
  EventRecord handler;      // the start of the one in it; refers to the window
};

// Those of `thread` until `end_ticks`, by time. Longer than its handler by at most a hundredth or
// by `slack_ticks`, and nothing else that the thread recorded is in it.
std::vector<HandlerDispatch> FindHandlerDispatches(const WindowThread& thread, uint64_t end_ticks,
                                                   uint64_t slack_ticks);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_HANDLER_DISPATCHES_H_
