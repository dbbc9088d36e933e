// How the option table reads in docs/options.md and in jankbox.h. For the tests that compare them.
#ifndef JANKBOX_TESTS_SDK_API_OPTION_DOCUMENTS_H_
#define JANKBOX_TESTS_SDK_API_OPTION_DOCUMENTS_H_

#include <string>

#include "sdk/api/option_set.h"

namespace jankbox {

// The sentence of the table.
std::string OptionSentence(const OptionRow& row);

// "700", "threads,io,locks", "auto"; empty: none.
std::string OptionDefault(const OptionRow& row);

// The comment above the option's field in jankbox.h, in one line.
std::string HeaderComment(const OptionRow& row);

// The list of all options as docs/options.md has it, wrapped at 100 columns.
std::string DocumentList();

}  // namespace jankbox

#endif  // JANKBOX_TESTS_SDK_API_OPTION_DOCUMENTS_H_
