#include "tests/tracer/atrace/real_cutils.h"

#include <android/log.h>
#include <dlfcn.h>

#include "tests/debian_source.h"

namespace jankbox {
namespace {

// Empty if the libraries are there; else why they cannot be.
std::string Build() {
  return BuildFromDebianSource(JANKBOX_TEST_BUILD_CUTILS, "android-platform-tools");
}

template <typename Function>
void Lookup(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  if (*function == nullptr) ADD_FAILURE() << name;
}

}  // namespace

RealCutils BuildRealCutils(WriteImport import) {
  RealCutils cutils;
  cutils.why_not = Build();
  cutils.path = std::string(JANKBOX_TEST_REAL_CUTILS) +
                (import == WriteImport::kWrite ? "/write" : "/write_chk") + "/libcutils.so";
  return cutils;
}

RealCutils LoadRealCutils(WriteImport import) {
  RealCutils cutils = BuildRealCutils(import);
  if (!cutils.why_not.empty()) return cutils;
  void* library = dlopen(cutils.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    cutils.why_not = dlerror();
    ADD_FAILURE() << cutils.why_not;
    return cutils;
  }
  Lookup(library, "atrace_enabled_tags", &cutils.enabled_tags);
  Lookup(library, "atrace_marker_fd", &cutils.marker_fd);
  Lookup(library, "atrace_get_enabled_tags", &cutils.get_enabled_tags);
  Lookup(library, "atrace_setup", &cutils.setup);
  Lookup(library, "atrace_update_tags", &cutils.update_tags);
  Lookup(library, "atrace_set_debuggable", &cutils.set_debuggable);
  Lookup(library, "atrace_set_tracing_enabled", &cutils.set_tracing_enabled);
  Lookup(library, "atrace_begin_body", &cutils.begin);
  Lookup(library, "atrace_end_body", &cutils.end);
  Lookup(library, "atrace_async_begin_body", &cutils.async_begin);
  Lookup(library, "atrace_async_end_body", &cutils.async_end);
  Lookup(library, "atrace_int_body", &cutils.counter);
  Lookup(library, "atrace_int64_body", &cutils.counter64);
  Lookup(library, "__system_property_set", &cutils.set_property);
  // It complains of every property that makes no sense, and of long names.
  int32_t (*set_minimum_priority)(int32_t) = nullptr;
  Lookup(library, "__android_log_set_minimum_priority", &set_minimum_priority);
  if (set_minimum_priority != nullptr) set_minimum_priority(ANDROID_LOG_SILENT);
  return cutils;
}

}  // namespace jankbox
