// The word that a mistyped one was meant to be, for messages. Pure; allocates; any thread.
#ifndef JANKBOX_BASE_TEXT_NEAREST_WORD_H_
#define JANKBOX_BASE_TEXT_NEAREST_WORD_H_

#include <string>
#include <vector>

namespace jankbox {

// The word of `known` that is closest to `word`; empty if none is close.
std::string NearestWord(const std::string& word, const std::vector<std::string>& known);

}  // namespace jankbox

#endif  // JANKBOX_BASE_TEXT_NEAREST_WORD_H_
