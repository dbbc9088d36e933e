#include "uploader/policy/retry_after.h"

#include <gtest/gtest.h>
#include <time.h>

#include <string>

namespace jankbox {
namespace {

// 1994-11-06 08:49:37 UTC, the date of RFC 9110's examples.
constexpr uint64_t kExampleS = 784'111'777;

TEST(RetryAfter, SecondsAndDates) {
  struct {
    const char* header;
    uint64_t now_s;
    std::optional<uint64_t> wait_s;
  } const cases[] = {
      {"0", 5, 0},
      {"120", 5, 120},
      {" 120\r\n", 5, 120},
      {"86400", 5, 86'400},
      {"86401", 5, 86'400},
      {"315360000", 5, 86'400},  // ten years
      {"99999999999999999999999999999999", 5, 86'400},
      {"-1", 5, std::nullopt},
      {"+5", 5, std::nullopt},
      {"1.5", 5, std::nullopt},
      {"12 34", 5, std::nullopt},
      {"soon", 5, std::nullopt},
      {"", 5, std::nullopt},
      {"  ", 5, std::nullopt},
      {"Sun, 06 Nov 1994 08:49:37 GMT", kExampleS - 60, 60},
      {"Sunday, 06-Nov-94 08:49:37 GMT", kExampleS - 60, 60},
      {"Sun Nov  6 08:49:37 1994", kExampleS - 60, 60},
      {"Sun, 06 Nov 1994 08:49:37 GMT", kExampleS + 60, 0},
      {"Sun, 06 Nov 2094 08:49:37 GMT", kExampleS, 86'400},
      {"Sun, 06 Nov 1994 08:49:37 UTC", kExampleS, std::nullopt},
      {"Sun, 06 Nov 1994 08:49:37", kExampleS, std::nullopt},
      {"Sun, 06 Foo 1994 08:49:37 GMT", kExampleS, std::nullopt},
      {"Sun, 06 anF 1994 08:49:37 GMT", kExampleS, std::nullopt},
      {"Sun, 32 Nov 1994 08:49:37 GMT", kExampleS, std::nullopt},
      {"Sun, 06 Nov 1994 24:49:37 GMT", kExampleS, std::nullopt},
      {"Sun, 06 Nov 99999 08:49:37 GMT", kExampleS, std::nullopt},
      {"Sun, 06 Nov 1994 08:49:37 GMT GMT", kExampleS, std::nullopt},
      {"a b c d e f g h i j k l", kExampleS, std::nullopt},
      {",,,,,,,,", kExampleS, std::nullopt},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(ParseRetryAfter(c.header, c.now_s), c.wait_s) << "\"" << c.header << "\"";
  }
}

TEST(RetryAfter, DatesAgreeWithTheLibrary) {
  // Every 37 days and some hours over 130 years, leap days and centuries among them.
  for (time_t at = 3600; at < time_t{4'102'444'800}; at += 37 * 86'400 + 12'345) {
    tm utc{};
    gmtime_r(&at, &utc);
    char text[64];
    ASSERT_GT(strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &utc), 0u);
    const uint64_t now_s = static_cast<uint64_t>(at) - 1000;
    EXPECT_EQ(ParseRetryAfter(text, now_s), 1000u) << text;
  }
}

TEST(RetryAfter, TwoDigitYearsAreOfTheNearestCentury) {
  EXPECT_EQ(ParseRetryAfter("Wednesday, 01-Jan-70 00:01:40 GMT", 0), 100u);
  // In 2026 "75" may be 2075, and "77" is more than fifty years ahead: 1977.
  constexpr uint64_t k2026 = 1'772'366'400;
  EXPECT_EQ(ParseRetryAfter("Wednesday, 01-Jan-75 00:00:00 GMT", k2026), kMaxRetryAfterS);
  EXPECT_EQ(ParseRetryAfter("Saturday, 01-Jan-77 00:00:00 GMT", k2026), 0u);
}

TEST(RetryAfter, AnyCutOfADateIsHarmless) {
  const std::string date = "Sun, 06 Nov 1994 08:49:37 GMT";
  for (size_t length = 0; length < date.size(); ++length) {
    EXPECT_EQ(ParseRetryAfter(date.substr(0, length), kExampleS), std::nullopt) << length;
  }
}

}  // namespace
}  // namespace jankbox
