// The Looper's printer and idle handler, and what the thread that takes Java stacks asks. The rules
// of the printer are those of monitors/looper/printer_dispatches.h; Java does what touches Java
// objects.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "jankbox/jankbox.h"
#include "monitors/looper/printer_dispatches.h"
#include "sdk/android/jni/incident_facts.h"
#include "sdk/android/jni/native_methods.h"
#include "sdk/android/jni/native_text.h"
#include "sdk/android/jni/running_message.h"
#include "tracer/event/event.h"

namespace jankbox {
namespace {

struct Callbacks {
  jclass native;
  jmethodID look;
  jmethodID install;
  jmethodID uninstall;
};
Callbacks g_callbacks;  // from JNI_OnLoad on

RunningMessage g_running;
std::atomic<int32_t> g_looper_tid{0};

constexpr DispatchCalls kCalls = {[](const char* what, uint64_t begin_ns) {
                                    g_running.Begin(what);
                                    jankbox_dispatch_begin(what, begin_ns);
                                  },
                                  [] {
                                    jankbox_dispatch_end();
                                    g_running.End();
                                  },
                                  [](const char*) {}};

// dev.jankbox.Native's half: the fields of Looper are read there. An exception of it is cleared and
// counts as a field that cannot be read.
class JavaPrinterHost final : public PrinterHost {
 public:
  void SetEnv(JNIEnv* env) { env_ = env; }

  Holder Look() override {
    const jint holder = env_->CallStaticIntMethod(g_callbacks.native, g_callbacks.look);
    return Failed() || holder < 0 || holder > static_cast<jint>(Holder::kUnreadable)
               ? Holder::kUnreadable
               : static_cast<Holder>(holder);
  }
  void Install(bool chained) override {
    env_->CallStaticVoidMethod(g_callbacks.native, g_callbacks.install,
                               chained ? JNI_TRUE : JNI_FALSE);
    Failed();
  }
  void Uninstall() override {
    env_->CallStaticVoidMethod(g_callbacks.native, g_callbacks.uninstall);
    Failed();
  }

 private:
  bool Failed() {
    if (env_->ExceptionCheck() != JNI_TRUE) return false;
    env_->ExceptionClear();
    return true;
  }

  JNIEnv* env_ = nullptr;
};

// Of the watched Looper's thread, but for what is atomic.
JavaPrinterHost g_host;
PrinterDispatches* g_dispatches = nullptr;  // never freed: a printer may outlive its monitor

void JNICALL AttachLooper(JNIEnv* env, jclass, jlong now_ms, jlong recheck_ms) {
  g_looper_tid.store(static_cast<int32_t>(syscall(SYS_gettid)), std::memory_order_relaxed);
  g_host.SetEnv(env);
  if (g_dispatches == nullptr) {
    g_dispatches = new PrinterDispatches(&g_host, &kCalls);
  }
  g_dispatches->SetRecheckMs(static_cast<uint64_t>(recheck_ms));
  jankbox_watch_this_thread("android.os.Looper");
  g_dispatches->Attach(static_cast<uint64_t>(now_ms));
}

void JNICALL DetachLooper(JNIEnv* env, jclass) {
  if (g_dispatches == nullptr) return;
  g_host.SetEnv(env);
  g_dispatches->Detach();
}

void JNICALL LooperIdle(JNIEnv* env, jclass, jlong now_ms) {
  if (g_dispatches == nullptr) return;
  g_host.SetEnv(env);
  g_dispatches->OnIdle(static_cast<uint64_t>(now_ms));
}

void JNICALL DispatchLine(JNIEnv* env, jclass, jstring text, jint from, jint units) {
  if (g_dispatches == nullptr) return;
  const LooperLine line(env, text, from, units);
  g_dispatches->OnLine(line.text());
}

void DispatchEnd() {
  if (g_dispatches != nullptr) g_dispatches->OnLine("<");
}

// Outside of messages, unless one of them runs a loop of its own.
void JNICALL IdleBegin(JNIEnv* env, jclass, jstring class_name) {
  constexpr jsize kMaxUnits = kMaxDispatchNameBytes - kIdlePrefixBytes;
  char name[kIdlePrefixBytes + 3 * kMaxUnits + 1] = {};  // modified UTF-8 has up to 3 bytes a unit
  memcpy(name, kIdlePrefix, kIdlePrefixBytes);
  const jsize units = std::min(env->GetStringLength(class_name), kMaxUnits);
  env->GetStringUTFRegion(class_name, 0, units, name + kIdlePrefixBytes);
  name[kMaxDispatchNameBytes] = '\0';
  g_running.Begin(name);
  jankbox_dispatch_begin(name, 0);
}

void IdleEnd() {
  jankbox_dispatch_end();
  g_running.End();
}

jint JNICALL SlowMessageMs(JNIEnv*, jclass) { return static_cast<jint>(jankbox_slow_message_ms()); }

jint DispatchSequence() { return static_cast<jint>(g_running.Sequence()); }

void JNICALL OverdueStackOf(JNIEnv* env, jclass, jint sequence, jobjectArray frames, jint seen,
                            jint samples, jstring wait) {
  OverdueStack stack;
  stack.sequence = static_cast<uint32_t>(sequence);
  stack.taken_ns = MonotonicNs();
  stack.message = g_running.NameOf(stack.sequence);
  if (stack.message.empty()) return;
  stack.tid = g_looper_tid.load(std::memory_order_relaxed);
  stack.frames = TextsOf(env, frames);
  stack.seen = static_cast<uint32_t>(seen);
  stack.samples = static_cast<uint32_t>(samples);
  stack.wait = TextOf(env, wait);
  IncidentFacts::Get().NoteStack(std::move(stack));
}

}  // namespace

bool FindLooperCallbacks(JNIEnv* env, jclass native) {
  g_callbacks.native = static_cast<jclass>(env->NewGlobalRef(native));
  if (g_callbacks.native == nullptr) return false;
  g_callbacks.look = env->GetStaticMethodID(native, "lookAtPrinter", "()I");
  if (g_callbacks.look == nullptr) return false;
  g_callbacks.install = env->GetStaticMethodID(native, "installPrinter", "(Z)V");
  if (g_callbacks.install == nullptr) return false;
  g_callbacks.uninstall = env->GetStaticMethodID(native, "uninstallPrinter", "()V");
  return g_callbacks.uninstall != nullptr;
}

void AddLooperMethods(CallForm form, std::vector<JNINativeMethod>* methods) {
  for (const HotMethod& method :
       {Critical<DispatchEnd>("dispatchEnd", "!()V"), Critical<IdleEnd>("idleEnd", "!()V"),
        Critical<DispatchSequence>("dispatchSequence", "!()I"),
        HotMethod{"idleBegin", "!(Ljava/lang/String;)V", reinterpret_cast<void*>(IdleBegin),
                  nullptr},
        HotMethod{"dispatchLine", "!(Ljava/lang/String;II)V", reinterpret_cast<void*>(DispatchLine),
                  nullptr}}) {
    methods->push_back(MethodOf(method, form));
  }
  const auto add = [methods](const char* name, const char* signature, void* function) {
    methods->push_back({const_cast<char*>(name), const_cast<char*>(signature), function});
  };
  add("attachLooper", "(JJ)V", reinterpret_cast<void*>(AttachLooper));
  add("looperIdle", "(J)V", reinterpret_cast<void*>(LooperIdle));
  add("detachLooper", "()V", reinterpret_cast<void*>(DetachLooper));
  add("slowMessageMs", "()I", reinterpret_cast<void*>(SlowMessageMs));
  add("overdueStack", "(I[Ljava/lang/String;IILjava/lang/String;)V",
      reinterpret_cast<void*>(OverdueStackOf));
}

}  // namespace jankbox
