#include "tests/sdk/api/option_documents.h"

#include <map>
#include <sstream>

namespace jankbox {
namespace {

// Breaks a list item into lines of at most 100 columns.
std::string Wrapped(const std::string& item) {
  constexpr size_t kColumns = 100;
  std::istringstream words(item);
  std::string text;
  size_t column = 0;
  for (std::string word; words >> word;) {
    if (column != 0 && column + 1 + word.size() > kColumns) {
      text += "\n  ";
      column = 2;
    } else if (column != 0) {
      text += " ";
      ++column;
    }
    text += word;
    column += word.size();
  }
  return text + "\n";
}

}  // namespace

std::string OptionSentence(const OptionRow& row) {
#define JANKBOX_NUMBER_DOC(name, fallback, least, most, when, store, doc) {#name, doc},
#define JANKBOX_WORDS_DOC(name, words, fallback, store, doc) {#name, doc},
#define JANKBOX_TEXT_DOC(name, fallback, variable, check, store, doc) {#name, doc},
  static const std::map<std::string, std::string> sentences = {JANKBOX_OPTION_TABLE(
      JANKBOX_NUMBER_DOC, JANKBOX_WORDS_DOC, JANKBOX_WORDS_DOC, JANKBOX_TEXT_DOC)};
  return sentences.at(row.name);
}

std::string OptionDefault(const OptionRow& row) {
  if (row.kind == OptionKind::kText) return row.default_text;
  if (row.kind == OptionKind::kNumber) return std::to_string(row.default_number);
  std::string words;
  for (const OptionWord& word : row.words) {
    const bool is_default = row.kind == OptionKind::kWord ? word.value == row.default_number
                                                          : (word.value & row.default_number) != 0;
    if (is_default) words += (words.empty() ? "" : ",") + std::string(word.word);
  }
  return words;
}

std::string HeaderComment(const OptionRow& row) {
  std::string comment = OptionSentence(row);
  if (row.kind == OptionKind::kNumber) {
    const bool has_none = row.most == UINT32_MAX;
    comment += " " + std::to_string(row.least) + " to " +
               (has_none ? "4294967294, or UINT32_MAX for none" : std::to_string(row.most)) +
               "; default " + OptionDefault(row) + ".";
  } else if (!OptionDefault(row).empty()) {
    comment += " Default " + OptionDefault(row) + ".";
  }
  return comment;
}

std::string DocumentList() {
  std::string list;
  for (const OptionRow& row : OptionRows()) {
    std::string item = "- `" + std::string(row.name) + "` (" + row.Range();
    if (!OptionDefault(row).empty()) item += "; default " + OptionDefault(row);
    if (row.variable != nullptr) item += "; variable `" + std::string(row.variable) + "`";
    if (row.change == OptionChange::kAnyTime) item += "; may change while recording";
    list += Wrapped(item + "): " + OptionSentence(row));
  }
  return list;
}

}  // namespace jankbox
