// libjankbox_jvmti.so: what `jankbox run --java` loads into a Java VM (-agentpath). It watches the
// event threads of AWT, on which Swing runs: breakpoints at the start of EventQueue.getNextEvent()
// and dispatchEvent() delimit messages (docs/decisions: AWT by breakpoints). The recorder is the
// one that the preload agent loads and starts. Whatever is missing, the VM runs as without it.
#include <dlfcn.h>
#include <jvmti.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"
#include "jankbox/jankbox.h"
#include "sdk/android/jni/incident_facts.h"
#include "sdk/linux/java_ui.h"
#include "sdk/linux/jvmti/bytecode_scan.h"
#include "sdk/linux/jvmti/event_names.h"
#include "sdk/linux/jvmti/event_threads.h"
#include "sdk/linux/jvmti/stack_watch.h"
#include "sdk/linux/preload_link.h"
#include "sdk/runtime/run_socket.h"
#include "tracer/event/gc_pause_name.h"

namespace jankbox {
namespace {

decltype(&jankbox_agent_java_ui) g_java_ui = nullptr;

// Written before the breakpoints are set, read by the app's threads when they hit one.
struct Places {
  jmethodID next_event = nullptr;     // EventQueue.getNextEvent()
  jmethodID next_event_of = nullptr;  // EventQueue.getNextEvent(int)
  jmethodID dispatch = nullptr;       // EventQueue.dispatchEvent(AWTEvent)
  jmethodID event_set = nullptr;      // EventQueue.setCurrentEventAndMostRecentTimeImpl(AWTEvent)
  EventNames names;
};
Places g_places;
std::atomic<StackWatch*> g_stacks{nullptr};  // never freed: its thread ends with the VM

// `text` to the last lines of `jankbox run`.
void TellRun(std::string_view text) {
  const char* run = RunSocketName();
  if (run != nullptr) SendToRun(run, text);
}

void TellError(const std::string& why) {
  TellRun("error: AWT's event thread is not watched: " + why);
}

std::atomic<uint32_t> g_gc_pause{0};  // the method that is recorded

// On a thread of the VM, while all of Java stands still: no call of JNI or JVMTI.
void JNICALL OnGcStart(jvmtiEnv*) { jankbox_begin(g_gc_pause.load(std::memory_order_relaxed)); }
void JNICALL OnGcFinish(jvmtiEnv*) { jankbox_end(g_gc_pause.load(std::memory_order_relaxed)); }

void FollowCollector(jvmtiEnv* vm) {
  g_gc_pause.store(jankbox_method_id(kGcPauseName));
  vm->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, nullptr);
  vm->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_GARBAGE_COLLECTION_START, nullptr);
}

// On the first event thread, when it first waits.
void FollowMessages(jvmtiEnv* vm, JNIEnv* env, jthread thread) {
  static std::atomic<bool> follows{false};
  if (follows.exchange(true)) return;
  g_places.names.Find(env, thread);
  IncidentFacts::Get().Listen();
  FollowCollector(vm);
  auto* stacks = new StackWatch(vm);
  g_stacks.store(stacks);
  if (!stacks->Start(env)) TellRun("error: reports have no Java stacks: the VM gave no thread");
}

void JNICALL OnBreakpoint(jvmtiEnv* vm, JNIEnv* env, jthread thread, jmethodID method, jlocation) {
  if (method == g_places.dispatch) {
    EventThreads::OnDispatch();
  } else if (method == g_places.event_set) {
    if (EventThreads::NeedsName()) {
      EventThreads::OnName(g_places.names.OfThisThread(env, thread).text);
    }
  } else if (EventThreads::OnWait(env, thread)) {
    FollowMessages(vm, env, thread);
  }
}

// JNI's GetMethodID() would initialize the class, which is only prepared yet.
bool FindMethods(jvmtiEnv* vm, jclass queue) {
  struct Wanted {
    const char* name;
    const char* signature;
    jmethodID* place;
  };
  constexpr char kOfEvent[] = "(Ljava/awt/AWTEvent;)V";
  const Wanted wanted[] = {{"getNextEvent", "()Ljava/awt/AWTEvent;", &g_places.next_event},
                           {"getNextEvent", "(I)Ljava/awt/AWTEvent;", &g_places.next_event_of},
                           {"dispatchEvent", kOfEvent, &g_places.dispatch},
                           {"setCurrentEventAndMostRecentTimeImpl", kOfEvent, &g_places.event_set}};
  jint count = 0;
  jmethodID* methods = nullptr;
  if (vm->GetClassMethods(queue, &count, &methods) != JVMTI_ERROR_NONE) return false;
  for (jint i = 0; i < count; ++i) {
    char* name = nullptr;
    char* signature = nullptr;
    if (vm->GetMethodName(methods[i], &name, &signature, nullptr) != JVMTI_ERROR_NONE) continue;
    for (const Wanted& method : wanted) {
      const bool same = strcmp(name, method.name) == 0 && strcmp(signature, method.signature) == 0;
      if (same) *method.place = methods[i];
    }
    vm->Deallocate(reinterpret_cast<unsigned char*>(name));
    vm->Deallocate(reinterpret_cast<unsigned char*>(signature));
  }
  vm->Deallocate(reinterpret_cast<unsigned char*>(methods));
  return g_places.next_event != nullptr && g_places.dispatch != nullptr;
}

// Where AWT has just set the event that is dispatched; none: this JDK does it in another way.
std::optional<jlocation> PlaceOfName(jvmtiEnv* vm, jmethodID method) {
  jint bytes = 0;
  unsigned char* code = nullptr;
  if (method == nullptr || vm->GetBytecodes(method, &bytes, &code) != JVMTI_ERROR_NONE) {
    return std::nullopt;
  }
  const std::optional<size_t> index =
      IndexAfterFirstFieldWrite(std::span<const uint8_t>(code, static_cast<size_t>(bytes)));
  vm->Deallocate(code);
  return index ? std::optional(static_cast<jlocation>(*index)) : std::nullopt;
}

bool SetBreakpoints(jvmtiEnv* vm, jclass queue) {
  if (!FindMethods(vm, queue)) return false;
  vm->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_BREAKPOINT, nullptr);
  // The waits first: a message that starts is then sure to end.
  if (g_places.next_event_of != nullptr) vm->SetBreakpoint(g_places.next_event_of, 0);
  if (vm->SetBreakpoint(g_places.next_event, 0) != JVMTI_ERROR_NONE) return false;
  const std::optional<jlocation> named = PlaceOfName(vm, g_places.event_set);
  if (named) vm->SetBreakpoint(g_places.event_set, *named);
  return vm->SetBreakpoint(g_places.dispatch, 0) == JVMTI_ERROR_NONE;
}

bool IsEventQueue(jvmtiEnv* vm, jclass prepared) {
  char* signature = nullptr;
  if (vm->GetClassSignature(prepared, &signature, nullptr) != JVMTI_ERROR_NONE) return false;
  const bool is_queue = strcmp(signature, "Ljava/awt/EventQueue;") == 0;
  vm->Deallocate(reinterpret_cast<unsigned char*>(signature));
  jobject loader = nullptr;
  return is_queue && vm->GetClassLoader(prepared, &loader) == JVMTI_ERROR_NONE && loader == nullptr;
}

void JNICALL OnClassPrepare(jvmtiEnv* vm, JNIEnv*, jthread, jclass prepared) {
  if (!IsEventQueue(vm, prepared)) return;
  vm->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_CLASS_PREPARE, nullptr);
  if (!SetBreakpoints(vm, prepared)) {
    return TellError("this Java VM has another java.awt.EventQueue");
  }
  g_java_ui();
}

void JNICALL OnVmDeath(jvmtiEnv*, JNIEnv*) {
  if (StackWatch* stacks = g_stacks.load()) stacks->Stop();
  if (!EventThreads::any()) TellRun(kJavaHasNoUi);
}

// A debugger needs the breakpoints, which the VM gives to one agent, and it ends the VM if it does
// not get them. Options in a file ("@args", VMOptionsFile) are not read: they may ask for one.
bool DebuggerMayBeAskedFor() {
  using namespace std::literals;
  for (const char* file : {"/proc/self/cmdline", "/proc/self/environ"}) {
    const Result<std::string> text = ReadFile(file, 4 << 20);
    if (!text.ok()) continue;
    for (const std::string_view sign : {"jdwp"sv, "\0@"sv, "VMOptionsFile"sv}) {
      if (text.value().find(sign) != std::string::npos) return true;
    }
  }
  return false;
}

// "" if the VM will report what is needed.
std::string AskForEvents(JavaVM* java, jvmtiEnv** vm) {
  if (java->GetEnv(reinterpret_cast<void**>(vm), JVMTI_VERSION_1_1) != JNI_OK) {
    return "this Java VM has no JVMTI";
  }
  jvmtiCapabilities wanted{};
  wanted.can_generate_breakpoint_events = 1;
  if ((*vm)->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) {
    return "this Java VM gives no breakpoints, or another agent has them";
  }
  jvmtiCapabilities names{};
  names.can_get_bytecodes = 1;
  names.can_get_line_numbers = 1;
  names.can_get_source_file_name = 1;
  (void)(*vm)->AddCapabilities(&names);  // without them messages have no names, and stacks no lines
  jvmtiCapabilities collector{};
  collector.can_generate_garbage_collection_events = 1;
  (void)(*vm)->AddCapabilities(&collector);  // without it a pause has no name
  jvmtiEventCallbacks callbacks{};
  callbacks.Breakpoint = OnBreakpoint;
  callbacks.ClassPrepare = OnClassPrepare;
  callbacks.VMDeath = OnVmDeath;
  callbacks.GarbageCollectionStart = OnGcStart;
  callbacks.GarbageCollectionFinish = OnGcFinish;
  (*vm)->SetEventCallbacks(&callbacks, sizeof(callbacks));
  (*vm)->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE, nullptr);
  (*vm)->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, nullptr);
  return "";
}

template <typename Function>
bool FindInPreload(const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return *function != nullptr;
}

void Load(JavaVM* java) {
  static std::atomic<bool> loaded{false};
  if (loaded.exchange(true)) return;  // named twice
  decltype(&jankbox_agent_records_java) records = nullptr;
  decltype(&jankbox_agent_leave_thread) leave_thread = nullptr;
  if (!FindInPreload("jankbox_agent_records_java", &records) ||
      !FindInPreload("jankbox_agent_java_ui", &g_java_ui) ||
      !FindInPreload("jankbox_agent_leave_thread", &leave_thread) || !records()) {
    return;  // not under `jankbox run`, or not to be recorded
  }
  EventThreads::SetPreload(leave_thread);
  if (DebuggerMayBeAskedFor()) {
    return TellError("a debugger (jdwp) needs the VM's breakpoints, or may: options are in a file");
  }
  jvmtiEnv* vm = nullptr;
  const std::string error = AskForEvents(java, &vm);
  if (!error.empty()) TellError(error);
}

}  // namespace
}  // namespace jankbox

// Another result than JNI_OK would end the VM.
extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* /*options*/, void* /*reserved*/) {
  jankbox::Load(vm);
  return JNI_OK;
}
