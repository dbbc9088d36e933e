// The variables of the atrace library in this process: which tags are on, and the descriptor that
// its markers go to. They are exported by libcutils (libutils before Android 4.3) and looked up by
// name, in whatever module defines them. Jankbox's own threads only: takes the loader's locks.
#ifndef JANKBOX_TRACER_ATRACE_ATRACE_SYMBOLS_H_
#define JANKBOX_TRACER_ATRACE_ATRACE_SYMBOLS_H_

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/status.h"

namespace jankbox {

// For atomic accesses, which 32-bit x86 wants better aligned than the type.
typedef uint64_t AtraceTags __attribute__((aligned(8)));

struct AtraceSymbols {
  AtraceTags* enabled_tags = nullptr;  // others read and write it at any time: atomic accesses only
  int* marker_fd = nullptr;            // the same; -1 until the library has opened it
  void (*setup)() = nullptr;    // makes the library ready, as its first marker does; may be null
  void (*refresh)() = nullptr;  // makes it look at its properties; null before Android 10
  std::string library;          // path of the module
};

// The library of the variables in a release of Android.
struct AtraceSymbolNames {
  int first_api_level;
  const char* library;  // to be opened first; null: the process's global scope has them
  const char* enabled_tags;
  const char* marker_fd;
};

// Newest first.
std::span<const AtraceSymbolNames> AtraceSymbolTable();
const AtraceSymbolNames& AtraceSymbolsOfApiLevel(int api_level);

// The search for them; one thread's.
class AtraceSearch {
 public:
  // Searches the library of the running release, then, by the names of today, through every module
  // that is loaded and was not searched before. Loads nothing that the process does not have, but
  // for `load_library` if that is not empty (and the release's own library before Android 5, which
  // every app has). The module stays loaded permanently: the app's threads may be writing a marker
  // whenever Jankbox ends. kNotFound if no module has both variables.
  Result<AtraceSymbols> Find(const std::string& load_library);

 private:
  std::set<std::pair<uintptr_t, std::string>> without_;  // load bias and path
};

// The release that runs; the newest of the table if this is not Android.
int DeviceApiLevel();

}  // namespace jankbox

#endif  // JANKBOX_TRACER_ATRACE_ATRACE_SYMBOLS_H_
