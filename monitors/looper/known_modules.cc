#include "monitors/looper/loop_modules.h"

namespace jankbox {
namespace {

struct KnownModule {
  std::string_view prefix;  // of the file name
  LoopModule module;
};

constexpr KnownModule kKnown[] = {
    {"libglib-2.0.so", {LoopModuleKind::kLoop, "glib"}},
    {"libQt5Core.so", {LoopModuleKind::kLoop, "qt"}},
    {"libQt6Core.so", {LoopModuleKind::kLoop, "qt"}},
    {"libuv.so", {LoopModuleKind::kLoop, "libuv"}},
    {"libnode.so", {LoopModuleKind::kLoop, "libuv"}},
    {"libSDL2-2.0.so", {LoopModuleKind::kLoop, "sdl"}},
    {"libSDL3.so", {LoopModuleKind::kLoop, "sdl"}},
    {"libSDL-1.2.so", {LoopModuleKind::kLoop, "sdl"}},
    {"libutils.so", {LoopModuleKind::kLoop, "android::Looper"}},
    {"libevent", {LoopModuleKind::kLoop, "libevent"}},
    {"libev.so", {LoopModuleKind::kLoop, "libev"}},
    {"libtcl", {LoopModuleKind::kLoop, "tcl"}},
    {"libXt.so", {LoopModuleKind::kLoop, "xt"}},
    {"libfltk.so", {LoopModuleKind::kLoop, "fltk"}},
    {"libreadline.so", {LoopModuleKind::kInput, "readline"}},
    {"libedit.so", {LoopModuleKind::kInput, "libedit"}},
    {"libncurses", {LoopModuleKind::kInput, "ncurses"}},
    {"libtinfo.so", {LoopModuleKind::kInput, "ncurses"}},
    {"libslang.so", {LoopModuleKind::kInput, "slang"}},
    {"node", {LoopModuleKind::kOther, "libuv"}},  // the program, with libuv inside
    {"libxcb", {LoopModuleKind::kDisplay, ""}},
    {"libX11", {LoopModuleKind::kDisplay, ""}},
    // Threads that read the display's events and queue them for the UI thread.
    {"libQt5WaylandClient.so", {LoopModuleKind::kDisplay, ""}},
    {"libQt6WaylandClient.so", {LoopModuleKind::kDisplay, ""}},
    {"libawt_xawt.so", {LoopModuleKind::kDisplay, ""}},
    {"libwayland-client.so", {LoopModuleKind::kMixed, ""}},
    {"libdbus-1.so", {LoopModuleKind::kReplyOnly, ""}},
    {"libpulse", {LoopModuleKind::kReplyOnly, ""}},
    {"libasound.so", {LoopModuleKind::kReplyOnly, ""}},
    {"libresolv.so", {LoopModuleKind::kReplyOnly, ""}},
    {"libc.so", {LoopModuleKind::kReplyOnly, ""}},
    {"libssl.so", {LoopModuleKind::kReplyOnly, ""}},
    {"libpq.so", {LoopModuleKind::kReplyOnly, ""}},
    {"libcurl", {LoopModuleKind::kReplyOnly, ""}},
};

}  // namespace

LoopModule ClassifyModule(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  for (const KnownModule& known : kKnown) {
    const bool library = known.prefix != "node";
    if (library ? name.substr(0, known.prefix.size()) == known.prefix : name == known.prefix) {
      return known.module;
    }
  }
  return {};
}

}  // namespace jankbox
