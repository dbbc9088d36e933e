// A ring file as text: its process, losses, threads and chunks, and, if requested, the last
// events. Pure; allocates.
#ifndef JANKBOX_TOOLS_RING_RING_TEXT_H_
#define JANKBOX_TOOLS_RING_RING_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "tools/terminal/terminal.h"

namespace jankbox::tools {

// `ring`: RingToJson().
std::string RenderRing(const TextStyle& style, const std::string& path, const nlohmann::json& ring);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RING_RING_TEXT_H_
