#include "sdk/api/option_set.h"

#include <charconv>
#include <optional>

#include "base/text/nearest_word.h"

namespace jankbox {
namespace {

#define JANKBOX_NUMBER_ROW(field, fallback, lower, upper, when, store, doc) \
  {.name = #field,                                                          \
   .kind = OptionKind::kNumber,                                             \
   .change = OptionChange::when,                                            \
   .number = &jankbox_options::field,                                       \
   .default_number = fallback,                                              \
   .least = lower,                                                          \
   .most = upper},
#define JANKBOX_WORD_ROW(field, list, fallback, store, doc) \
  {.name = #field,                                          \
   .kind = OptionKind::kWord,                               \
   .number = &jankbox_options::field,                       \
   .default_number = fallback,                              \
   .words = list},
#define JANKBOX_BITS_ROW(field, list, fallback, store, doc) \
  {.name = #field,                                          \
   .kind = OptionKind::kBits,                               \
   .number = &jankbox_options::field,                       \
   .default_number = fallback,                              \
   .words = list},
#define JANKBOX_TEXT_ROW(field, fallback, own_variable, check, store, doc) \
  {.name = #field,                                                         \
   .kind = OptionKind::kText,                                              \
   .text = &jankbox_options::field,                                        \
   .default_text = fallback,                                               \
   .variable = own_variable},

constexpr OptionRow kRows[] = {
    JANKBOX_OPTION_TABLE(JANKBOX_NUMBER_ROW, JANKBOX_WORD_ROW, JANKBOX_BITS_ROW, JANKBOX_TEXT_ROW)};

bool HasNone(const OptionRow& row) {
  return row.kind == OptionKind::kNumber && row.most == UINT32_MAX;
}

std::optional<uint32_t> ParseNumber(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<uint32_t> ParseWord(const OptionRow& row, std::string_view text) {
  for (const OptionWord& word : row.words) {
    if (text == word.word) return word.value;
  }
  return std::nullopt;
}

// "threads, io" or one word.
std::optional<uint32_t> ParseWords(const OptionRow& row, std::string_view text) {
  uint32_t bits = 0;
  while (true) {
    const size_t comma = text.find(',');
    std::string_view piece = text.substr(0, comma);
    while (!piece.empty() && piece.front() == ' ') piece.remove_prefix(1);
    while (!piece.empty() && piece.back() == ' ') piece.remove_suffix(1);
    const std::optional<uint32_t> bit = ParseWord(row, piece);
    if (!bit) return std::nullopt;
    bits |= *bit;
    if (comma == std::string_view::npos) return bits;
    text.remove_prefix(comma + 1);
  }
}

std::optional<uint32_t> Parse(const OptionRow& row, std::string_view text) {
  if (HasNone(row) && (text == "none" || text == "max")) return UINT32_MAX;
  // A threshold of 0 can only mean that it is off. In a field of the struct 0 is unset.
  const bool threshold = row.change == OptionChange::kAnyTime;
  if (HasNone(row) && threshold && text == "0") return UINT32_MAX;
  std::optional<uint32_t> value;
  if (row.kind == OptionKind::kWord) value = ParseWord(row, text);
  if (row.kind == OptionKind::kBits) value = ParseWords(row, text);
  return value ? value : ParseNumber(text);
}

bool IsInRange(const OptionRow& row, uint32_t value) {
  if (row.kind == OptionKind::kNumber) return value >= row.least && value <= row.most;
  uint32_t all = 0;
  for (const OptionWord& word : row.words) {
    if (value == word.value) return true;
    all |= word.value;
  }
  all &= ~row.words.back().value;  // which contradicts the others
  return row.kind == OptionKind::kBits && value != 0 && (value & ~all) == 0;
}

Status Invalid(const OptionRow& row, const std::string& value) {
  return Status(StatusCode::kInvalidArgument,
                row.name + (" is " + value) + ": must be " + row.Range());
}

}  // namespace

std::string OptionRow::Range() const {
  if (kind == OptionKind::kText) return "a text";
  if (kind == OptionKind::kNumber) {
    const uint32_t largest = HasNone(*this) ? UINT32_MAX - 1 : most;
    return std::to_string(least) + " to " + std::to_string(largest) +
           (HasNone(*this) ? " or none" : "");
  }
  std::string range = kind == OptionKind::kBits ? "some of " : "";
  for (size_t i = 0; i < words.size(); ++i) {
    const bool last = i + 1 == words.size();
    range += (i == 0 ? "" : last ? " or " : ", ") + std::string(words[i].word);
  }
  return range;
}

bool OptionRow::IsSetIn(const jankbox_options& options) const {
  if (text == nullptr) return options.*number != 0;
  return options.*text != nullptr && *(options.*text) != '\0';
}

void OptionRow::Copy(const jankbox_options& from, jankbox_options* to) const {
  if (text == nullptr) {
    to->*number = from.*number;
  } else {
    to->*text = from.*text;
  }
}

void OptionRow::Clear(jankbox_options* options) const { Copy(jankbox_options{}, options); }

Status OptionRow::Check(const jankbox_options& options) const {
  if (text != nullptr || IsInRange(*this, options.*number)) return Status::Ok();
  return Invalid(*this, std::to_string(options.*number));
}

std::span<const OptionRow> OptionRows() { return kRows; }

const OptionRow* FindOption(std::string_view name) {
  for (const OptionRow& row : kRows) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

std::string NoSuchOption(const std::string& name) {
  std::vector<std::string> names;
  for (const OptionRow& row : kRows) names.push_back(row.name);
  const std::string nearest = NearestWord(name, names);
  return "\"" + name + "\" is not an option" +
         (nearest.empty() ? "" : ": did you mean " + nearest + "?");
}

Status OptionSet::Set(std::string_view name, std::string_view value) {
  const OptionRow* row = FindOption(name);
  if (row == nullptr) {
    return Status(StatusCode::kInvalidArgument, NoSuchOption(std::string(name)));
  }
  if (row->text != nullptr) {
    texts_.emplace_back(value);
    values_.*row->text = texts_.back().c_str();
    return Status::Ok();
  }
  const std::optional<uint32_t> number = Parse(*row, value);
  if (!number || !IsInRange(*row, *number)) return Invalid(*row, "\"" + std::string(value) + "\"");
  values_.*row->number = *number;
  return Status::Ok();
}

Status OptionSet::SetAll(const std::vector<std::string>& names_and_values) {
  for (size_t i = 0; i + 1 < names_and_values.size(); i += 2) {
    const Status status = Set(names_and_values[i], names_and_values[i + 1]);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

}  // namespace jankbox
