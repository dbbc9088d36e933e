// Texts as a book of counts has them, so that a row is found again. Pure; allocates.
#ifndef JANKBOX_UPLOADER_COUNTS_CUT_TEXT_H_
#define JANKBOX_UPLOADER_COUNTS_CUT_TEXT_H_

#include <string>
#include <string_view>

#include "base/utf8.h"

namespace jankbox {

inline std::string CutText(std::string_view text) {
  constexpr size_t kMaxBytes = 64;
  return ToValidUtf8(text, kMaxBytes);
}

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_COUNTS_CUT_TEXT_H_
