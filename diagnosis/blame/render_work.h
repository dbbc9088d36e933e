// Render work that a program named (jankbox/render.h), out of a thread's call tree. Sealing thread,
// allocates.
#ifndef JANKBOX_DIAGNOSIS_BLAME_RENDER_WORK_H_
#define JANKBOX_DIAGNOSIS_BLAME_RENDER_WORK_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "diagnosis/blame/call_tree.h"
#include "tracer/event/method_names.h"

namespace jankbox {

inline constexpr std::string_view kRenderPrefix = "render/";  // JANKBOX_RENDER_PREFIX

// "upload texture: icon atlas" of a method's name; empty if it is no render work.
std::string_view RenderWorkName(std::string_view method);

// The items whose names say so, one a name, with the calls and the time of all of them; work within
// work of the same name counts once. In the order of `items`, which lists callers first.
std::vector<CallItem> RenderWork(const std::vector<CallItem>& items, const MethodNames& names);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_BLAME_RENDER_WORK_H_
