// AOSP's own atrace library, built from Debian's source package by build_cutils.py, in one of the
// two shapes in which devices have it.
#ifndef JANKBOX_TESTS_TRACER_ATRACE_REAL_CUTILS_H_
#define JANKBOX_TESTS_TRACER_ATRACE_REAL_CUTILS_H_

#include <cstdint>
#include <string>

namespace jankbox {

enum class WriteImport { kWrite, kWriteChk };

struct RealCutils {
  std::string path;
  std::string why_not;  // not empty: there is no library

  uint64_t* enabled_tags = nullptr;
  int* marker_fd = nullptr;
  uint64_t (*get_enabled_tags)() = nullptr;
  void (*setup)() = nullptr;
  void (*update_tags)() = nullptr;
  void (*set_debuggable)(bool) = nullptr;
  void (*set_tracing_enabled)(bool) = nullptr;
  void (*begin)(const char* name) = nullptr;
  void (*end)() = nullptr;
  void (*async_begin)(const char* name, int32_t cookie) = nullptr;
  void (*async_end)(const char* name, int32_t cookie) = nullptr;
  void (*counter)(const char* name, int32_t value) = nullptr;
  void (*counter64)(const char* name, int64_t value) = nullptr;
  int (*set_property)(const char* name, const char* value) = nullptr;
};

// Builds both libraries if this was not done yet (some seconds, and a download of 86 MB, once).
// Sets `path` or `why_not`.
RealCutils BuildRealCutils(WriteImport import);

// The same, and loads it into this process permanently.
RealCutils LoadRealCutils(WriteImport import);

}  // namespace jankbox

#endif  // JANKBOX_TESTS_TRACER_ATRACE_REAL_CUTILS_H_
