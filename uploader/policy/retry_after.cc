#include "uploader/policy/retry_after.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace jankbox {
namespace {

// By hand and not strptime, whose names of months follow the app's locale.
struct HttpDate {
  int64_t year = 0;
  int64_t month = 0;  // from 1
  int64_t day = 0;
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
};

constexpr size_t kDateTokens = 8;

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r' ||
                           text.back() == '\n')) {
    text.remove_suffix(1);
  }
  return text;
}

// Digits only; saturates far above any use.
std::optional<int64_t> Number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = std::min<int64_t>(value * 10 + (c - '0'), int64_t{1} << 40);
  }
  return value;
}

std::optional<int64_t> MonthNumber(std::string_view name) {
  static constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const size_t at = name.size() == 3 ? kMonths.find(name) : std::string_view::npos;
  if (at == std::string_view::npos || at % 3 != 0) return std::nullopt;
  return static_cast<int64_t>(at / 3 + 1);
}

// Splits at any run of " ,-:"; 0 if there are more than the size of `tokens`.
size_t Split(std::string_view text, std::array<std::string_view, kDateTokens>* tokens) {
  size_t count = 0;
  while (!text.empty()) {
    const size_t length = std::min(text.find_first_of(" ,-:"), text.size());
    if (length > 0) {
      if (count == kDateTokens) return 0;
      (*tokens)[count++] = text.substr(0, length);
    }
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return count;
}

// Two digits mean the century that is nearest (RFC 9110, 5.6.7).
int64_t FullYear(int64_t year, uint64_t now_s) {
  if (year >= 100) return year;
  const int64_t this_year = 1970 + static_cast<int64_t>(now_s / 31'556'952);
  int64_t full = this_year / 100 * 100 + year;
  if (full > this_year + 50) full -= 100;
  return full;
}

// "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994".
std::optional<HttpDate> ParseDate(std::string_view text, uint64_t now_s) {
  std::array<std::string_view, kDateTokens> t;
  const size_t count = Split(text, &t);
  if (count < 7) return std::nullopt;
  const bool asctime = MonthNumber(t[1]).has_value();
  if (asctime ? count != 7 : count != 8 || t[7] != "GMT") return std::nullopt;
  const std::optional<int64_t> month = MonthNumber(asctime ? t[1] : t[2]);
  const std::optional<int64_t> day = Number(asctime ? t[2] : t[1]);
  const std::optional<int64_t> hour = Number(asctime ? t[3] : t[4]);
  const std::optional<int64_t> minute = Number(asctime ? t[4] : t[5]);
  const std::optional<int64_t> second = Number(asctime ? t[5] : t[6]);
  const std::optional<int64_t> year = Number(asctime ? t[6] : t[3]);
  if (!month || !day || !hour || !minute || !second || !year) return std::nullopt;
  if (*day < 1 || *day > 31 || *hour > 23 || *minute > 59 || *second > 60 || *year > 9999) {
    return std::nullopt;
  }
  return HttpDate{FullYear(*year, now_s), *month, *day, *hour, *minute, *second};
}

// Days from 1970-01-01 in the Gregorian calendar; a year is counted from March, so that the day
// that leap years add comes last.
int64_t DaysSince1970(const HttpDate& date) {
  const int64_t year = date.month > 2 ? date.year : date.year - 1;
  const int64_t month_from_march = (date.month + 9) % 12;
  const int64_t day_of_year = (153 * month_from_march + 2) / 5 + date.day - 1;
  return year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719'468;
}

}  // namespace

std::optional<uint64_t> ParseRetryAfter(std::string_view header, uint64_t now_s) {
  const std::string_view text = Trimmed(header);
  if (const std::optional<int64_t> seconds = Number(text)) {
    return std::min(static_cast<uint64_t>(*seconds), kMaxRetryAfterS);
  }
  const std::optional<HttpDate> date = ParseDate(text, now_s);
  if (!date) return std::nullopt;
  const int64_t at_s =
      DaysSince1970(*date) * 86'400 + date->hour * 3600 + date->minute * 60 + date->second;
  const int64_t wait_s = at_s - static_cast<int64_t>(now_s);
  return std::min(static_cast<uint64_t>(std::max<int64_t>(wait_s, 0)), kMaxRetryAfterS);
}

}  // namespace jankbox
