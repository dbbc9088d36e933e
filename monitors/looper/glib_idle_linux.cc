#include <dlfcn.h>

#include <atomic>

#include "base/loader_use.h"
#include "monitors/looper/dispatch_monitor.h"
#include "monitors/looper/glib_idle.h"
#include "monitors/looper/idle_callback.h"
#include "tracer/event/event_sink.h"
#include "tracer/hook/original_function.h"

namespace jankbox {
namespace {

using GSourceFunc = int (*)(void* user_data);
using Dispatch = int(void* source, GSourceFunc callback, void* user_data);

// The beginning of GSourceFuncs, which is GLib's ABI.
struct SourceFunctions {
  void* prepare;
  void* check;
  Dispatch* dispatch;
};

constinit OriginalFunction g_original;
std::atomic<SourceFunctions*> g_table{nullptr};

// Loops of threads that are not watched have idle callbacks too.
int DispatchIdle(void* source, GSourceFunc callback, void* user_data) {
  Dispatch* real = g_original.Get<Dispatch>();
  const bool watched = RecordingOn() && ThisThreadIsWatched();
  if (watched) BeginIdleCallback("g_idle");
  const uint64_t count = DispatchMonitor::CountOfThisThread();
  const int again = real(source, callback, user_data);
  // A loop that the callback ran has ended it already.
  if (watched && DispatchMonitor::CountOfThisThread() == count) DispatchMonitor::End();
  return again;
}

std::atomic_ref<Dispatch*> DispatchOf(SourceFunctions* table) {
  return std::atomic_ref<Dispatch*>(table->dispatch);
}

}  // namespace

void FollowGlibIdle() {
  if (g_table.load(std::memory_order_acquire) != nullptr) return;
  LoaderUse use;
  void* glib = dlopen("libglib-2.0.so.0", RTLD_LAZY | RTLD_NOLOAD);  // never unloaded: nodelete
  if (glib == nullptr) return;
  auto* table = static_cast<SourceFunctions*>(dlsym(glib, "g_idle_funcs"));
  if (table == nullptr || table->dispatch == nullptr) return;
  Dispatch* real = DispatchOf(table).load();
  if (real != DispatchIdle) g_original.Set(reinterpret_cast<void*>(real));
  if (DispatchOf(table).compare_exchange_strong(real, DispatchIdle)) {
    g_table.store(table, std::memory_order_release);
  }
}

void StopGlibIdle() {
  SourceFunctions* table = g_table.exchange(nullptr);
  if (table == nullptr) return;
  Dispatch* ours = DispatchIdle;
  DispatchOf(table).compare_exchange_strong(ours, g_original.Get<Dispatch>());
}

}  // namespace jankbox
