// The C API (jankbox.h, incident.h, plugin.h, upload.h): thin, and no error of Jankbox reaches the
// app but as a status.
#include "jankbox/jankbox.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/last_error.h"
#include "base/loader_use.h"
#include "base/mutex.h"
#include "base/text/private_text.h"
#include "jankbox/incident.h"
#include "jankbox/plugin.h"
#include "monitors/looper/dispatch_monitor.h"
#include "monitors/looper/input_latency.h"
#include "monitors/looper/loop_hooks.h"
#include "sdk/api/app_thread.h"
#include "sdk/api/app_transport.h"
#include "sdk/api/desktop_link.h"
#include "sdk/api/foreground.h"
#include "sdk/api/incident_listeners.h"
#include "sdk/api/options.h"
#include "sdk/api/plugins.h"
#include "sdk/api/status_code.h"
#include "sdk/runtime/run_channel.h"
#include "sdk/runtime/runtime.h"
#include "sdk/runtime/startup_watch.h"
#include "tracer/event/event.h"
#include "tracer/event/event_sink.h"
#include "tracer/event/watcher_wake.h"
#include "tracer/ring/method_registry.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/watched_slot.h"

namespace {

using jankbox::EventKind;
using jankbox::MonotonicNs;
using jankbox::ToApiStatus;

static_assert(std::string_view(JANKBOX_IDLE_PREFIX) == jankbox::kIdlePrefix);

constexpr uint64_t kStopWaitNs = 2 * jankbox::kNsPerSecond;

std::atomic<pid_t> g_starter{0};  // which process started last; 0: none

// Locked during a whole start or stop; g_runtime_mutex only guards the slot, and is never locked
// while code of the app's runs.
jankbox::Mutex g_lifecycle_mutex;
jankbox::Mutex g_runtime_mutex;
std::atomic<pthread_t> g_lifecycle_thread{};  // that has g_lifecycle_mutex

class SCOPED_CAPABILITY LifecycleTurn {
 public:
  LifecycleTurn() ACQUIRE(g_lifecycle_mutex) {
    g_lifecycle_mutex.Lock();
    g_lifecycle_thread.store(pthread_self());
  }
  ~LifecycleTurn() RELEASE() {
    g_lifecycle_thread.store({});
    g_lifecycle_mutex.Unlock();
  }
  LifecycleTurn(const LifecycleTurn&) = delete;
  LifecycleTurn& operator=(const LifecycleTurn&) = delete;
};

// What another thread of the parent has locked nobody unlocks here.
void OnForkInChild() {
  jankbox::IncidentListeners::Get().OnForkInChild();
  if (g_lifecycle_thread.load() == pthread_self()) return;
  new (&g_lifecycle_mutex) jankbox::Mutex();
  new (&g_runtime_mutex) jankbox::Mutex();
  g_lifecycle_thread.store({});
  jankbox::Plugins::Get().OnForkInChild();
}

std::shared_ptr<jankbox::Runtime>& RuntimeSlot() REQUIRES(g_runtime_mutex) {
  return jankbox::MakeOnce([] { return new std::shared_ptr<jankbox::Runtime>(); });
}

// Of this process, `pid`.
std::shared_ptr<jankbox::Runtime> Current(pid_t pid = getpid()) {
  jankbox::MutexLock lock(&g_runtime_mutex);
  const std::shared_ptr<jankbox::Runtime>& runtime = RuntimeSlot();
  return runtime != nullptr && runtime->pid() == pid ? runtime : nullptr;
}

// Never destroyed: something still uses it, or its threads are another process's.
// FORK: a child may be forked within this by another thread, and finds a whole list.
struct LeftRuntime {
  std::shared_ptr<jankbox::Runtime> runtime;
  LeftRuntime* before;
};
std::atomic<LeftRuntime*> g_left{nullptr};

void Leave(std::shared_ptr<jankbox::Runtime> runtime) REQUIRES(g_runtime_mutex) {
  g_left.store(new LeftRuntime{std::move(runtime), g_left.load()});
}

void SetCurrent(std::shared_ptr<jankbox::Runtime> runtime, pid_t pid = getpid()) {
  jankbox::MutexLock lock(&g_runtime_mutex);
  std::shared_ptr<jankbox::Runtime>& slot = RuntimeSlot();
  // In a forked child the parent's threads are not here.
  if (slot != nullptr && slot->pid() != pid) Leave(std::move(slot));
  slot = std::move(runtime);
}

void StopRecording(bool process_exits) {
  if (g_starter.load() != getpid()) return;
  // exit() in a handler of a signal that interrupted a start or a stop.
  if (g_lifecycle_thread.load() == pthread_self()) return;
  const LifecycleTurn turn;
  std::shared_ptr<jankbox::Runtime> runtime = Current();
  if (runtime == nullptr) return;
  jankbox::Plugins::Get().Stop();
  SetCurrent(nullptr);
  if (!runtime->Stop(MonotonicNs() + kStopWaitNs, process_exits)) {
    jankbox::MutexLock lock(&g_runtime_mutex);
    Leave(std::move(runtime));
  }
}

}  // namespace

extern "C" {

jankbox_status jankbox_start(const jankbox_options* options) {
  jankbox::LoaderUse::Register();
  static std::atomic<bool> noted{false};
  if (!noted.load()) {  // two threads may: it is harmless to be told twice
    // Made here, so that OnForkInChild() allocates nothing.
    jankbox::Plugins::Get();
    jankbox::IncidentListeners::Get();
    at_quick_exit(jankbox_process_exits);
    pthread_atfork(nullptr, nullptr, OnForkInChild);
    noted.store(true);
  }
  const pid_t pid = getpid();
  g_starter.store(pid);
  const LifecycleTurn turn;
  if (Current(pid) != nullptr) return JANKBOX_OK;
  jankbox::UseRunChannel();
  jankbox::AppThread::StartExpected();
  jankbox::Result<jankbox::Options> checked = jankbox::OptionsOfAllChannels(options);
  if (!checked.ok()) return ToApiStatus(checked.status());
  jankbox::Result<std::unique_ptr<jankbox::Runtime>> started =
      jankbox::Runtime::Start(checked.value());
  if (!started.ok()) return ToApiStatus(started.status());
  SetCurrent(std::move(started.value()), pid);
  if (jankbox::UploadDeclined()) Current()->ApplyConsent();  // meanwhile, perhaps
  jankbox::Plugins::Get().Start();
  return JANKBOX_OK;
}

void jankbox_stop(void) { StopRecording(/*process_exits=*/false); }

void jankbox_process_exits(void) {
  const jankbox::RingHeader* ring = jankbox::Recorder::ActiveRing();
  if (ring != nullptr && ring->pid == getpid()) jankbox::WatchedSlot::NoteExit(ring);
}

jankbox_status jankbox_configure(const jankbox_options* options) {
  std::shared_ptr<jankbox::Runtime> runtime = Current();
  if (runtime == nullptr) return JANKBOX_NOT_RUNNING;
  return ToApiStatus(runtime->Configure(options));
}

uint32_t jankbox_slow_message_ms(void) { return jankbox::WatchedSlot::SlowThresholdMs(); }

void jankbox_set_transport(jankbox_transport transport, void* context) {
  jankbox::SetAppTransport(transport, context);
}

void jankbox_set_network(int network) {
  const bool was_off = jankbox::UploadNetwork() == JANKBOX_NETWORK_OFF;
  jankbox::SetUploadNetwork(network);
  if (!was_off || jankbox::UploadNetwork() == JANKBOX_NETWORK_OFF) return;
  const std::shared_ptr<jankbox::Runtime> runtime = Current();
  if (runtime != nullptr) runtime->TryUploads();
}

void jankbox_set_upload(int allowed) {
  jankbox::SetUploadAllowed(allowed != 0);
  const std::shared_ptr<jankbox::Runtime> runtime = Current();
  if (runtime != nullptr) runtime->ApplyConsent();
}

void jankbox_set_text_filter(jankbox_text_filter filter, void* context) {
  jankbox::SetTextFilter(filter, context);
}

jankbox_status jankbox_reset_installation_id(void) {
  const std::shared_ptr<jankbox::Runtime> runtime = Current();
  if (runtime == nullptr) return JANKBOX_NOT_RUNNING;
  runtime->ResetIds();
  return JANKBOX_OK;
}

void jankbox_fully_drawn(void) { jankbox::StartupWatch::NoteDrawn(MonotonicNs()); }

jankbox_status jankbox_flush(uint32_t timeout_ms) {
  const uint64_t deadline_ns = MonotonicNs() + timeout_ms * jankbox::kNsPerMs;
  std::shared_ptr<jankbox::Runtime> runtime = Current();
  if (runtime == nullptr) return JANKBOX_NOT_RUNNING;
  return runtime->Flush(deadline_ns) ? JANKBOX_OK : JANKBOX_TIMED_OUT;
}

const char* jankbox_last_error(void) { return jankbox::LastError().data(); }

uint32_t jankbox_method_id(const char* name) {
  return name == nullptr ? 0 : jankbox::MethodRegistry::Get().IdOfName(name);
}

void jankbox_begin(uint32_t id) { jankbox::RecordEvent(EventKind::kBegin, id); }
void jankbox_end(uint32_t id) { jankbox::RecordEvent(EventKind::kEnd, id); }
void jankbox_async_begin(uint32_t id, uint64_t cookie) {
  jankbox::RecordValue(EventKind::kAsyncBegin, id, cookie);
}
void jankbox_async_end(uint32_t id, uint64_t cookie) {
  jankbox::RecordValue(EventKind::kAsyncEnd, id, cookie);
}
void jankbox_counter(uint32_t id, int64_t value) {
  jankbox::RecordValue(EventKind::kCounter, id, static_cast<uint64_t>(value));
}
void jankbox_instant(uint32_t id) { jankbox::RecordEvent(EventKind::kInstant, id); }

void jankbox_dispatch_begin(const char* what, uint64_t begin_ns) {
  jankbox::DispatchMonitor::Begin(what, begin_ns);
}
void jankbox_dispatch_end(void) { jankbox::DispatchMonitor::End(); }
void jankbox_dispatch_end_all(void) { jankbox::DispatchMonitor::EndAll(); }

void jankbox_input(uint64_t event_ns) { jankbox::InputLatency::On(event_ns); }

void jankbox_set_foreground(int foreground) {
  if (jankbox::SetForeground(foreground != 0)) {
    jankbox::Plugins::Get().SetForeground(foreground != 0);
    jankbox::WatcherWake::OnActivity();
  }
}

jankbox_status jankbox_watch_this_thread(const char* name) {
  if (!jankbox::RecordingOn()) return JANKBOX_NOT_RUNNING;
  const bool has_room = jankbox::WatchLoopOfThisThread() &&
                        (name == nullptr || jankbox::DispatchMonitor::NameLoopForGood(name));
  if (has_room) return JANKBOX_OK;
  return ToApiStatus({jankbox::StatusCode::kNoSpace, "8 threads are watched already"});
}

jankbox_status jankbox_snapshot(const char* reason) {
  std::shared_ptr<jankbox::Runtime> runtime = Current();
  if (runtime == nullptr) return JANKBOX_NOT_RUNNING;
  return ToApiStatus(runtime->Snapshot(reason != nullptr ? reason : ""));
}

jankbox_status jankbox_add_listener(jankbox_incident_listener listener, void* context) {
  return ToApiStatus(jankbox::IncidentListeners::Get().Add(listener, context));
}

void jankbox_remove_listener(jankbox_incident_listener listener, void* context) {
  jankbox::IncidentListeners::Get().Remove(listener, context);
}

jankbox_status jankbox_incident_attribute(const jankbox_incident* incident, const char* key,
                                          const char* value) {
  return ToApiStatus(jankbox::IncidentListeners::Get().AddAttribute(incident, key, value));
}

jankbox_status jankbox_report_incident(const char* what, uint64_t begin_ns, uint64_t end_ns) {
  std::shared_ptr<jankbox::Runtime> runtime = Current();
  if (runtime == nullptr) return JANKBOX_NOT_RUNNING;
  return ToApiStatus(runtime->ReportIncident(what != nullptr ? what : "", begin_ns, end_ns));
}

jankbox_status jankbox_add_plugin(const jankbox_plugin* plugin) {
  return ToApiStatus(jankbox::Plugins::Get().Add(plugin));
}

// Reports that are being sealed when the program ends are finished, and the ring is removed as
// cleanly closed.
__attribute__((destructor)) static void StopAtExit(void) { StopRecording(/*process_exits=*/true); }
}
