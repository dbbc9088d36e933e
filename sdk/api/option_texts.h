// What the options that are texts may say. Pure; allocates.
#ifndef JANKBOX_SDK_API_OPTION_TEXTS_H_
#define JANKBOX_SDK_API_OPTION_TEXTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "sdk/api/option_set.h"

namespace jankbox {

// kInvalidArgument names the option and what it must be; OK for a row that is no text.
Status CheckText(const OptionRow& row, const jankbox_options& options);

// The tags that the option `atrace` asks for, none for "off". REQUIRES that CheckText() is OK.
std::optional<uint64_t> AtraceTags(const std::string& text);

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_OPTION_TEXTS_H_
