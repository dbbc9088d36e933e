#include "diagnosis/seal/message_name.h"

#include <algorithm>

namespace jankbox {
namespace {

constexpr size_t kHashDigits = 8;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsWord(char c) { return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The length of a UUID at the start of `text`; 0 if there is none.
size_t UuidLength(std::string_view text) {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  if (text.size() < kForm.size()) return 0;
  for (size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == 'x' ? !IsHex(text[i]) : text[i] != kForm[i]) return 0;
  }
  return kForm.size();
}

// A word that is all hexadecimal digits.
bool IsHash(std::string_view word) {
  if (word.starts_with("0x") || word.starts_with("0X")) {
    word.remove_prefix(2);
    return std::all_of(word.begin(), word.end(), IsHex);
  }
  return word.size() >= kHashDigits && std::all_of(word.begin(), word.end(), IsHex) &&
         std::any_of(word.begin(), word.end(), IsDigit);
}

// One blank between two words, none at the ends.
std::string WithoutGaps(std::string_view text) {
  std::string clean;
  for (const char c : text) {
    const bool blank = c == ' ';
    if (!blank || (!clean.empty() && clean.back() != ' ')) clean += c;
  }
  if (!clean.empty() && clean.back() == ' ') clean.pop_back();
  return clean;
}

}  // namespace

std::string NormalMessageName(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    size_t length = UuidLength(name);
    if (length == 0) {
      length =
          static_cast<size_t>(std::find_if_not(name.begin(), name.end(), IsWord) - name.begin());
      const std::string_view word = name.substr(0, length);
      if (length == 0) {
        length = 1;
        text += name.front();
      } else if (!IsHash(word)) {
        std::copy_if(word.begin(), word.end(), std::back_inserter(text),
                     [](char c) { return !IsDigit(c); });
      }
    }
    name.remove_prefix(length);
  }
  return WithoutGaps(text);
}

}  // namespace jankbox
