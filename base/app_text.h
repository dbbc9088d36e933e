// Names and versions of apps as the ring's header and the counts have them, so that what one counts
// is found in the other. Pure; allocates.
#ifndef JANKBOX_BASE_APP_TEXT_H_
#define JANKBOX_BASE_APP_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace jankbox {

inline constexpr size_t kMaxAppTextBytes = 63;

// Valid UTF-8.
inline std::string AppText(std::string_view text) { return ToValidUtf8(text, kMaxAppTextBytes); }

}  // namespace jankbox

#endif  // JANKBOX_BASE_APP_TEXT_H_
