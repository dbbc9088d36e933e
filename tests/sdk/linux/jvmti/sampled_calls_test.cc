#include "sdk/linux/jvmti/sampled_calls.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

int g_methods[256];

// Outermost first; each method's location is its depth.
SampledCalls::Stack Stack(const std::vector<int>& methods, int64_t location = 0) {
  SampledCalls::Stack stack;
  for (const int method : methods) stack.push_back({&g_methods[method], location});
  return stack;
}

std::vector<int> Methods(const SampledCalls::Path& path) {
  std::vector<int> methods;
  for (const JavaCall& call : path.calls) {
    methods.push_back(static_cast<int>(static_cast<int*>(call.method) - g_methods));
  }
  return methods;
}

TEST(SampledCalls, PathIsWhatHalfOfTheSamplesShare) {
  SampledCalls samples;
  samples.Add(Stack({1, 2, 3, 4}), "");
  samples.Add(Stack({1, 2, 3, 5}), "");
  samples.Add(Stack({1, 2, 3, 6}), "");
  samples.Add(Stack({1, 7}), "");
  const SampledCalls::Path path = samples.Blamed();
  EXPECT_EQ(Methods(path), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(path.seen, 3u);
  EXPECT_EQ(samples.count(), 4u);
}

TEST(SampledCalls, LocationIsThatOfTheLatestSample) {
  SampledCalls samples;
  samples.Add(Stack({1}, 10), "");
  samples.Add(Stack({1}, 20), "");
  EXPECT_EQ(samples.Blamed().calls.at(0).location, 20);
}

TEST(SampledCalls, NoSamplesHaveNoPath) {
  const SampledCalls samples;
  EXPECT_TRUE(samples.Blamed().calls.empty());
  EXPECT_EQ(samples.Blamed().seen, 0u);
  EXPECT_EQ(samples.Wait(), "");
}

// The path of a long message is that of its whole time.
TEST(SampledCalls, ManySamplesAreThinnedEvenly) {
  SampledCalls samples;
  constexpr int kSamples = 10'000;
  for (int i = 0; i < kSamples; ++i) samples.Add(Stack({1, i < kSamples * 3 / 4 ? 2 : 3}), "");
  EXPECT_LT(samples.count(), SampledCalls::kMaxKept);
  EXPECT_GE(samples.count(), SampledCalls::kMaxKept / 2);
  const SampledCalls::Path path = samples.Blamed();
  EXPECT_EQ(Methods(path), (std::vector<int>{1, 2}));
  EXPECT_NEAR(static_cast<double>(path.seen) / static_cast<double>(samples.count()), 0.75, 0.05);
}

TEST(SampledCalls, WaitIsThatOfMostSamples) {
  SampledCalls samples;
  samples.Add(Stack({1}), "WAITING in a");
  samples.Add(Stack({1}), "WAITING in a");
  samples.Add(Stack({1}), "");
  EXPECT_EQ(samples.Wait(), "WAITING in a, in 2 of 3 samples");
  samples.Add(Stack({1}), "WAITING in b");
  EXPECT_EQ(samples.Wait(), "");
}

}  // namespace
}  // namespace jankbox
