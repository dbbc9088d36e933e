#include "monitors/looper/ui_thread_signs.h"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "monitors/looper/display_sockets.h"
#include "monitors/looper/function_start.h"

namespace jankbox {
namespace {

constexpr size_t kCallerWords = 64;  // as LoopWaits: among them is the frame of Qt that runs GLib

// Asks the loader's own table, without a lock: the tables of LoopModules may be older than the
// modules of a plugin, as long as nothing is recorded. REQUIRES that the thread returns to
// `address`: the module is not unloaded meanwhile.
LoopModule ModuleOfCaller(const void* address) {
  const char* path = ModulePath(address);
  return path != nullptr && path[0] != '\0' ? ClassifyModule(path) : LoopModules::Find(address);
}

// Reads only above the thread's present stack pointer: its callers' frames are there, and words of
// frames that are gone, whose modules may be unloaded right now.
__attribute__((no_sanitize("address"))) bool QtRuns(const WaitCall& call, LoopModule module) {
  if (module.loop_name == std::string_view("qt")) return true;
  if (module.loop_name != std::string_view("glib")) return false;
  const auto* stack = static_cast<const volatile uintptr_t*>(call.stack);
  for (size_t i = 0; i < kCallerWords; ++i) {
    const LoopModule caller = LoopModules::Find(reinterpret_cast<const void*>(stack[i]));
    if (caller.loop_name == std::string_view("qt")) return true;
  }
  return false;
}

// Tcl's notifier and SDL's helpers wait for the display, too: there, taking events is the sign.
bool MayBeOfAUi(const WaitCall& call, LoopModule module) {
  if (call.family == WaitFamily::kPump) return true;
  const std::string_view name = module.loop_name;
  if (module.kind == LoopModuleKind::kLoop) return name != "tcl" && name != "sdl";
  const bool of_program = module.kind == LoopModuleKind::kOther;
  return of_program && !call.returns_at_once && call.family != WaitFamily::kRead;
}

const char* SignOf(const WaitCall& call, LoopModule module) {
  if (call.family == WaitFamily::kPump) {
    return call.pump_name == std::string_view("tcl") ? "Tcl events" : "SDL events";
  }
  // Its UI thread waits for a thread that reads the display's events.
  if (QtRuns(call, module)) return "Qt loop";
  switch (DisplayOfWait(call)) {
    case DisplayServer::kX:
      return "X connection";
    case DisplayServer::kWayland:
      return "Wayland connection";
    case DisplayServer::kNone:
      break;
  }
  return nullptr;
}

bool MayBeUiThread(const LoopDispatches& main) {
  const std::string_view loop = main.loop_name();
  if (loop.empty()) return main.asks_display();  // it starts up
  for (const std::string_view toolkit : {"qt", "sdl", "tcl", "xt", "fltk"}) {
    if (loop == toolkit) return true;
  }
  return DisplayOfLoop(main.awaited()) != DisplayServer::kNone;
}

}  // namespace

const char* UiThreadSigns::Look(const WaitCall& call, const LoopDispatches& main, uint64_t now_ns) {
  const LoopModule module = ModuleOfCaller(call.call_site);
  if (module.IsOfDisplay()) asks_display_ = true;
  const bool due = since_ns_ != 0 ? now_ns - since_ns_ >= kSettleNs : waits_ >= next_check_;
  if (!due) return nullptr;
  if (!asks_display_ || !MayBeOfAUi(call, module)) {
    if (waits_ >= next_check_ + kLooksOfACheck) next_check_ = 2 * waits_;
    return nullptr;
  }
  next_check_ = 2 * waits_;
  const bool is_second = since_ns_ != 0;
  const int saved_errno = errno;
  const char* sign = SignOf(call, module);
  if (sign != nullptr && MayBeUiThread(main)) sign = nullptr;
  errno = saved_errno;
  since_ns_ = sign != nullptr && !is_second ? now_ns : 0;
  return is_second ? sign : nullptr;
}

}  // namespace jankbox
