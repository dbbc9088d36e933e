#include "monitors/frame/log_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

namespace jankbox {
namespace {

void ExpectNear1Percent(uint64_t actual, uint64_t wanted) {
  EXPECT_LE(std::abs(static_cast<double>(actual) - static_cast<double>(wanted)),
            0.0101 * static_cast<double>(wanted))
      << actual << " for " << wanted;
}

TEST(LogHistogram, QuantilesAreThoseOfTheSortedValuesToOnePercent) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> frames(std::log(9e6), 0.8);
  for (size_t count : {1u, 2u, 21u, 600u, 5000u}) {
    auto histogram = std::make_unique<LogHistogram>();
    std::vector<uint64_t> values;
    for (size_t i = 0; i < count; ++i) {
      values.push_back(static_cast<uint64_t>(frames(random)));
      histogram->Add(values.back());
    }
    std::sort(values.begin(), values.end());
    for (double share : {0.5, 0.9, 0.95, 0.99, 1.0}) {
      const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(count)));
      ExpectNear1Percent(histogram->Quantile(share), values[std::max<size_t>(rank, 1) - 1]);
    }
    EXPECT_EQ(histogram->count(), count);
  }
}

TEST(LogHistogram, CoversAMicrosecondToAMinuteAndKeepsTheRestAtItsEdges) {
  for (uint64_t value = LogHistogram::kLeastNs; value <= LogHistogram::kMostNs; value *= 3) {
    LogHistogram histogram;
    histogram.Add(value);
    ExpectNear1Percent(histogram.Quantile(0.5), value);
  }
  LogHistogram edges;
  edges.Add(0);
  ExpectNear1Percent(edges.Quantile(0.5), LogHistogram::kLeastNs);
  edges.Add(UINT64_MAX);
  ExpectNear1Percent(edges.Quantile(1.0), LogHistogram::kMostNs);
  EXPECT_EQ(LogHistogram().Quantile(0.5), 0u);
}

}  // namespace
}  // namespace jankbox
