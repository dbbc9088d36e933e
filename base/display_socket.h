// Where the servers of displays listen. Pure; NO-ALLOC.
#ifndef JANKBOX_BASE_DISPLAY_SOCKET_H_
#define JANKBOX_BASE_DISPLAY_SOCKET_H_

#include <cstring>

namespace jankbox {

enum class DisplayServer : unsigned char { kNone, kX, kWayland };

// The server that listens at this path of a Unix socket. Of a name in the abstract name space
// `path` is what follows its first byte, which is 0.
inline DisplayServer DisplayServerAt(const char* path) {
  if (strstr(path, "/.X11-unix/X") != nullptr) return DisplayServer::kX;
  const char* name = strrchr(path, '/');
  const bool wayland = name != nullptr && strncmp(name, "/wayland-", strlen("/wayland-")) == 0;
  return wayland ? DisplayServer::kWayland : DisplayServer::kNone;
}

}  // namespace jankbox

#endif  // JANKBOX_BASE_DISPLAY_SOCKET_H_
