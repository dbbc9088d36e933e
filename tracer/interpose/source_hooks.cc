#include "tracer/interpose/source_hooks.h"

#include <span>

#include "base/last_error.h"
#include "tracer/interpose/io_proxies.h"
#include "tracer/interpose/lock_proxies.h"
#include "tracer/interpose/thread_proxies.h"
#include "tracer/interpose/thread_recorder.h"

namespace jankbox {
namespace {

// The preload agent calls for itself; the SDK's own library is left out by HookSet.
bool IsOfTheApp(std::string_view path) {
  return path.substr(path.rfind('/') + 1).rfind("libjankbox", 0) != 0;
}

void AddAll(std::span<const SourceHook> source, HookFeature feature, HookSet* hooks) {
  for (const SourceHook& hook : source) {
    const Status status = hooks->Add({hook.id, feature, IsOfTheApp, hook.proxy, hook.original});
    if (!status.ok())
      SetLastError("a function of the C library is not interposed: " + status.message());
  }
}

}  // namespace

void AddSourceHooks(const SourceSet& sources, HookSet* hooks) {
  if (sources.threads) {
    ThreadRecorder::Prepare();
    AddAll(ThreadHooks(), HookFeature::kThreads, hooks);
  }
  if (sources.io) AddAll(IoHooks(), HookFeature::kIo, hooks);
  if (sources.locks) AddAll(LockHooks(), HookFeature::kLocks, hooks);
}

}  // namespace jankbox
