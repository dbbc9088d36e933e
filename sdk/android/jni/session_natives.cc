// Start and stop, thresholds, and what an app says of itself.
#include <algorithm>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "jankbox/frames.h"
#include "jankbox/incident.h"
#include "jankbox/jankbox.h"
#include "sdk/android/jni/incident_facts.h"
#include "sdk/android/jni/native_methods.h"
#include "sdk/android/jni/native_text.h"
#include "sdk/api/option_set.h"

namespace jankbox {
namespace {

// Why the options of the last call were not understood; "" where they were.
Mutex g_error_mutex;
std::string g_option_error GUARDED_BY(g_error_mutex);

void NoteOptionError(const std::string& error) {
  MutexLock lock(&g_error_mutex);
  g_option_error = error;
}

jint JNICALL Start(JNIEnv* env, jclass, jobjectArray names_and_values) {
  OptionSet options;
  const std::vector<std::string> texts = TextsOf(env, names_and_values);
  if (env->ExceptionCheck() == JNI_TRUE) return JANKBOX_INVALID_ARGUMENT;
  const Status understood = options.SetAll(texts);
  NoteOptionError(understood.message());
  if (!understood.ok()) return JANKBOX_INVALID_ARGUMENT;
  IncidentFacts::Get().Listen();
  const jankbox_status status = jankbox_start(&options.values());
  if (status != JANKBOX_OK) IncidentFacts::Get().StopListening();
  return status;
}

void JNICALL Stop(JNIEnv*, jclass) {
  jankbox_stop();  // its last reports are told of what is known, too
  IncidentFacts::Get().StopListening();
}

jint JNICALL Configure(JNIEnv* env, jclass, jobjectArray names_and_values) {
  OptionSet options;
  const std::vector<std::string> texts = TextsOf(env, names_and_values);
  if (env->ExceptionCheck() == JNI_TRUE) return JANKBOX_INVALID_ARGUMENT;
  const Status understood = options.SetAll(texts);
  NoteOptionError(understood.message());
  return understood.ok() ? jankbox_configure(&options.values()) : JANKBOX_INVALID_ARGUMENT;
}

jstring JNICALL LastError(JNIEnv* env, jclass) {
  std::string error;
  {
    MutexLock lock(&g_error_mutex);
    error = g_option_error;
  }
  return env->NewStringUTF(error.empty() ? jankbox_last_error() : error.c_str());
}

jint JNICALL Flush(JNIEnv*, jclass, jint timeout_ms) {
  return jankbox_flush(static_cast<uint32_t>(std::max(timeout_ms, 0)));
}

jint JNICALL Snapshot(JNIEnv* env, jclass, jstring reason) {
  return jankbox_snapshot(TextOf(env, reason).c_str());
}

jint JNICALL ReportIncident(JNIEnv* env, jclass, jstring what, jlong begin_ns, jlong end_ns) {
  return jankbox_report_incident(TextOf(env, what).c_str(), static_cast<uint64_t>(begin_ns),
                                 static_cast<uint64_t>(end_ns));
}

jint JNICALL SetState(JNIEnv* env, jclass, jstring key, jstring value) {
  const std::string name = TextOf(env, key);
  if (value == nullptr) return jankbox_set_state(name.c_str(), nullptr);
  return jankbox_set_state(name.c_str(), TextOf(env, value).c_str());
}

void JNICALL SetForeground(JNIEnv*, jclass, jboolean foreground) {
  jankbox_set_foreground(foreground == JNI_TRUE ? 1 : 0);
}

void JNICALL FullyDrawn(JNIEnv*, jclass) { jankbox_fully_drawn(); }

void JNICALL Input(JNIEnv*, jclass, jlong event_ns) {
  jankbox_input(static_cast<uint64_t>(event_ns));
}

void JNICALL LastExit(JNIEnv* env, jclass, jobjectArray keys_and_values) {
  IncidentFacts::Get().NoteLastExit(TextsOf(env, keys_and_values));
}

}  // namespace

void AddSessionMethods(std::vector<JNINativeMethod>* methods) {
  const auto add = [methods](const char* name, const char* signature, void* function) {
    methods->push_back({const_cast<char*>(name), const_cast<char*>(signature), function});
  };
  add("start", "([Ljava/lang/String;)I", reinterpret_cast<void*>(Start));
  add("stop", "()V", reinterpret_cast<void*>(Stop));
  add("configure", "([Ljava/lang/String;)I", reinterpret_cast<void*>(Configure));
  add("lastError", "()Ljava/lang/String;", reinterpret_cast<void*>(LastError));
  add("flush", "(I)I", reinterpret_cast<void*>(Flush));
  add("snapshot", "(Ljava/lang/String;)I", reinterpret_cast<void*>(Snapshot));
  add("reportIncident", "(Ljava/lang/String;JJ)I", reinterpret_cast<void*>(ReportIncident));
  add("setState", "(Ljava/lang/String;Ljava/lang/String;)I", reinterpret_cast<void*>(SetState));
  add("setForeground", "(Z)V", reinterpret_cast<void*>(SetForeground));
  add("fullyDrawn", "()V", reinterpret_cast<void*>(FullyDrawn));
  add("input", "(J)V", reinterpret_cast<void*>(Input));
  add("lastExit", "([Ljava/lang/String;)V", reinterpret_cast<void*>(LastExit));
}

}  // namespace jankbox
