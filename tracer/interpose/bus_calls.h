// The destination of the last D-Bus method call that this process sent: a thread that waits for the
// reply waits for that peer, and not for the bus that passes the call on. Taken from the messages
// that libdbus, GDBus and sd-bus give to send() and sendmsg(). The proxies are HOT: NO-ALLOC, no
// lock, SIGNAL-SAFE, errno untouched; the rest is for any thread.
#ifndef JANKBOX_TRACER_INTERPOSE_BUS_CALLS_H_
#define JANKBOX_TRACER_INTERPOSE_BUS_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tracer/hook/hook_use.h"

namespace jankbox {

// The destination in the header of a method call that waits for a reply; empty for any other
// message and for bytes that are none. `message` is its start, at least with the whole header.
std::string_view DestinationOfCall(std::string_view message);

// The destination of the last call since `ticks` of the ring's clock, cut and zero-terminated;
// empty if there was none, and while the next one is stored.
using BusName = char[64];
void ReadLastBusDestination(uint64_t ticks, BusName* name);

std::span<const HookUse> BusHooks();

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_BUS_CALLS_H_
