// Whether a Java VM of this process shows windows, and the texts "java: …" by which the agents say
// to `jankbox run` that its event thread was not watched, and why. Cold.
#ifndef JANKBOX_SDK_LINUX_JAVA_UI_H_
#define JANKBOX_SDK_LINUX_JAVA_UI_H_

#include <link.h>

#include <cstring>
#include <string_view>

namespace jankbox {

inline constexpr std::string_view kJavaPrefix = "java: ";
// It showed windows, and `jankbox run` had no --java.
inline constexpr std::string_view kJavaUiNotWatched = "java: not watched";
// With --java: the VM ended, and never had an event thread.
inline constexpr std::string_view kJavaHasNoUi = "java: no ui";

// AWT's library for X11 is loaded.
inline bool HasJavaUi() {
  return dl_iterate_phdr(
             [](dl_phdr_info* module, size_t, void*) {
               return strstr(module->dlpi_name, "/libawt_xawt.so") != nullptr ? 1 : 0;
             },
             nullptr) != 0;
}

}  // namespace jankbox

#endif  // JANKBOX_SDK_LINUX_JAVA_UI_H_
