#include "tools/terminal/verdict_bar.h"

#include <gmock/gmock.h>

#include <numeric>
#include <random>

namespace jankbox::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

size_t Occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Apportion, SumIsAlwaysTheTotal) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> parts(10);
    for (double& part : parts)
      part = random() % 3 == 0 ? 0.0 : static_cast<double>(random() % 9999);
    parts[0] += 1;
    const std::vector<int> whole = Apportion(parts, 100);
    EXPECT_EQ(std::accumulate(whole.begin(), whole.end(), 0), 100);
    const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    for (size_t i = 0; i < parts.size(); ++i) EXPECT_NEAR(whole[i], parts[i] / sum * 100, 1.0);
  }
}

TEST(Apportion, ThirdsAndNothing) {
  EXPECT_THAT(Apportion({1, 1, 1}, 100), ElementsAre(34, 33, 33));
  EXPECT_THAT(Apportion({0, 0}, 100), ElementsAre(0, 0));
}

TEST(VerdictBar, CellsAndPercentagesAddUp) {
  const std::string bar =
      VerdictBar({.unicode = false}, {{"running", 750}, {"lock", 250}, {"disk", 0}});
  EXPECT_EQ(Occurrences(bar, "#"), 45u + 1u);  // and one in the legend
  EXPECT_EQ(Occurrences(bar, "L"), 15u + 1u);
  EXPECT_THAT(bar, HasSubstr("running 75 % (750 ms)"));
  EXPECT_THAT(bar, HasSubstr("lock 25 % (250 ms)"));
  EXPECT_THAT(bar, testing::Not(HasSubstr("disk")));
}

TEST(VerdictBar, NarrowTerminalBreaksTheLegend) {
  const std::string bar = VerdictBar({.unicode = false, .columns = 44},
                                     {{"running", 500}, {"lock", 300}, {"sleeping", 200}});
  EXPECT_EQ(Occurrences(bar, "\n"), 4u);
}

TEST(CauseInBrief, NamesOneShareOrTwo) {
  EXPECT_EQ(CauseInBrief({{"running", 980}, {"lock", 20}}), "running 98 %");
  EXPECT_EQ(CauseInBrief({{"running", 400}, {"lock", 600}}), "lock 60 %, running 40 %");
  EXPECT_EQ(CauseInBrief({{"running", 0}}), "");
}

}  // namespace
}  // namespace jankbox::tools
