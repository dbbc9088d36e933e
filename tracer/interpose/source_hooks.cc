#include "tracer/interpose/source_hooks.h"

#include "tracer/interpose/bus_calls.h"
#include "tracer/interpose/end_proxies.h"
#include "tracer/interpose/io_proxies.h"
#include "tracer/interpose/lock_proxies.h"
#include "tracer/interpose/thread_proxies.h"
#include "tracer/interpose/thread_recorder.h"

namespace jankbox {
void AddSourceHooks(const SourceSet& sources, HookSet* hooks) {
  constexpr char kWithout[] = "a function of the C library is not interposed";
  hooks->AddAll(EndHooks(), kWithout);
  if (sources.threads) {
    ThreadRecorder::Prepare();
    hooks->AddAll(ThreadHooks(), kWithout);
  }
  if (sources.io) {
    hooks->AddAll(IoHooks(), kWithout);
    hooks->AddAll(BusHooks(), kWithout);
  }
  if (sources.locks) hooks->AddAll(LockHooks(), kWithout);
}

}  // namespace jankbox
