// Which module a wait is called from, and whether its waits can be a loop's own. Built from the
// loader's list off the hot path, looked up without a lock. Tables are never freed: a reader may
// hold an old one; there are at most kMaxTables in a process.
#ifndef JANKBOX_MONITORS_LOOPER_LOOP_MODULES_H_
#define JANKBOX_MONITORS_LOOPER_LOOP_MODULES_H_

#include <cstdint>
#include <string_view>

namespace jankbox {

enum class LoopModuleKind : uint8_t {
  kOther,      // the program itself and all that is not known
  kLoop,       // a library that runs main loops
  kInput,      // one that waits for the user, wherever it is called
  kReplyOnly,  // one that only waits for replies inside another dispatch
  kDisplay,    // the same, of a display server: a program that has it and a loop library has a UI
  kMixed,      // one that waits for events and for replies at the same call site: libwayland
};

struct LoopModule {
  LoopModuleKind kind = LoopModuleKind::kOther;
  const char* loop_name = "";  // "glib", "qt", "libuv", "android::Looper", …; "" if it names none

  // Its waits are for the display's server.
  bool IsOfDisplay() const {
    return kind == LoopModuleKind::kDisplay || kind == LoopModuleKind::kMixed;
  }
};

// The class of a module by its file name: "/usr/lib/…/libglib-2.0.so.0.7400.6" is kLoop, "glib".
LoopModule ClassifyModule(std::string_view path);

class LoopModules {
 public:
  static constexpr int kMaxTables = 64;

  // Reads the loader's list again if modules came or went. Takes the loader's lock, allocates:
  // not on a hot path.
  [[gnu::cold]] static void Refresh();

  // The module that contains `address`. HOT.
  static LoopModule Find(const void* address);

  // Whether a library that runs main loops is loaded. HOT.
  static bool HasLoopLibrary();
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_LOOP_MODULES_H_
