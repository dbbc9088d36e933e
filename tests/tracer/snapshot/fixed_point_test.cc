#include "tracer/snapshot/fixed_point.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace jankbox {
namespace {

constexpr int64_t kOne = int64_t{1} << kFractionBits;
constexpr int64_t kMost = int64_t{1} << 62;

TEST(FixedPoint, KnownAnswers) {
  EXPECT_EQ(ScaleByHalves(1000, kOne), 1000);
  EXPECT_EQ(ScaleByHalves(-1000, kOne), -1000);
  EXPECT_EQ(ScaleByHalves(3, kOne / 2), 2);    // 1.5
  EXPECT_EQ(ScaleByHalves(-3, kOne / 2), -1);  // -1.5
  EXPECT_EQ(ScaleByHalves(INT64_MIN, 0), 0);
  EXPECT_EQ(ScaleByHalves(INT64_MAX, INT64_MAX), kMost);
  EXPECT_EQ(ScaleByHalves(INT64_MIN, INT64_MAX), -kMost);
}

#if defined(__SIZEOF_INT128__)
TEST(FixedPoint, BothWidthsAgree) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const auto number = static_cast<int64_t>(random()) >> (i % 64);
    const auto slope = static_cast<int64_t>(random() >> (1 + i / 64 % 63));
    const ScaledNumber wide = std::clamp<ScaledNumber>(Scale(number, slope), -kMost, kMost);
    ASSERT_EQ(ScaleByHalves(number, slope), static_cast<int64_t>(wide)) << number << " " << slope;
  }
}
#endif

}  // namespace
}  // namespace jankbox
