// Options by name and text, as all channels but the C struct give them, and the rows of the option
// table (sdk/api/option_table.h) as data. Cold; allocates. Threads: one.
#ifndef JANKBOX_SDK_API_OPTION_SET_H_
#define JANKBOX_SDK_API_OPTION_SET_H_

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "jankbox/jankbox.h"
#include "sdk/api/option_table.h"

namespace jankbox {

enum class OptionKind : uint8_t { kNumber, kWord, kBits, kText };

struct OptionRow {
  char name[20];
  OptionKind kind;
  OptionChange change = OptionChange::kAtStart;
  uint32_t jankbox_options::*number = nullptr;   // null for a text
  const char* jankbox_options::*text = nullptr;  // null for the others
  uint32_t default_number = 0;
  uint32_t least = 0;
  uint32_t most = 0;
  std::span<const OptionWord> words = {};
  char default_text[8] = "";
  const char* variable = nullptr;  // the environment variable of a text; null if it has none

  bool IsSetIn(const jankbox_options& options) const;
  void Copy(const jankbox_options& from, jankbox_options* to) const;
  void Clear(jankbox_options* options) const;
  // kInvalidArgument names the option, its value and what it must be.
  Status Check(const jankbox_options& options) const;
  // What the value must be: "10 to 600000", "on or off".
  std::string Range() const;
  // A developer's properties set numbers and words only: folders and URLs stay the app's decision.
  bool IsForDeveloper() const { return kind != OptionKind::kText; }
};

std::span<const OptionRow> OptionRows();
// Null if there is no such option.
const OptionRow* FindOption(std::string_view name);
// "\"x\" is not an option", with the name that was probably meant.
std::string NoSuchOption(const std::string& name);

class OptionSet {
 public:
  OptionSet() { values_.size = sizeof(values_); }
  OptionSet(OptionSet&&) = default;
  OptionSet& operator=(OptionSet&&) = default;
  OptionSet(const OptionSet&) = delete;  // values_ points to texts_
  OptionSet& operator=(const OptionSet&) = delete;

  // Sets one option. A number is decimal, or "none" ("max") for the options that have one; "0" is
  // "none" for a threshold that has one. A word is one of the row's, bits are words with commas
  // between, and both may be a number. An empty text is unset. kInvalidArgument says what is wrong;
  // nothing is changed then.
  Status Set(std::string_view name, std::string_view value);

  // Name, value, name, value, … Stops at the first that is wrong.
  Status SetAll(const std::vector<std::string>& names_and_values);

  void Clear(const OptionRow& row) { row.Clear(&values_); }

  // Texts live as long as the set.
  const jankbox_options& values() const { return values_; }

 private:
  jankbox_options values_ = {};
  std::deque<std::string> texts_;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_OPTION_SET_H_
