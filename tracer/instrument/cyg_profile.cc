// -finstrument-functions: GCC and Clang call these at each entry and exit of a function that they
// compiled so. A program compiled with it and linked with Jankbox has all its methods in the ring.
// HOT.
#include "tracer/event/event_sink.h"
#include "tracer/instrument/function_ids.h"

extern "C" {

__attribute__((visibility("default"), no_instrument_function)) void __cyg_profile_func_enter(
    void* function, void* /*call_site*/) {
  if (!jankbox::RecordingOn()) return;
  const uint32_t id = jankbox::IdOfFunction(reinterpret_cast<uint64_t>(function));
  if (id != 0) jankbox::RecordEvent(jankbox::EventKind::kBegin, id);
}

__attribute__((visibility("default"), no_instrument_function)) void __cyg_profile_func_exit(
    void* function, void* /*call_site*/) {
  if (!jankbox::RecordingOn()) return;
  const uint32_t id = jankbox::IdOfFunction(reinterpret_cast<uint64_t>(function));
  if (id != 0) jankbox::RecordEvent(jankbox::EventKind::kEnd, id);
}
}
