#include "base/last_error.h"
#include "tracer/interpose/binder_hooks.h"
#include "tracer/interpose/binder_proxies.h"

namespace jankbox {
namespace {

// libbinder.so, libhwbinder.so and what may come of them, in whatever folder: those that talk to
// the driver import ioctl, the others have nothing to hook. Drivers of the GPU call it, too, and
// often: they are left alone.
bool IsBinderLibrary(std::string_view path) {
  return path.substr(path.rfind('/') + 1).find("binder") != std::string_view::npos;
}

}  // namespace

void AddBinderHooks(HookSet* hooks) {
  for (const SourceHook& hook : BinderHooks()) {
    const Status status =
        hooks->Add({hook.id, HookFeature::kBinder, IsBinderLibrary, hook.proxy, hook.original});
    if (!status.ok()) SetLastError("binder calls are not recorded: " + status.message());
  }
}

}  // namespace jankbox
