#include "base/text/nearest_word.h"

#include <algorithm>

namespace jankbox {
namespace {

// Optimal string alignment: one for an insertion, a deletion, a change, or a swap of neighbours.
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string NearestWord(const std::string& word, const std::vector<std::string>& known) {
  constexpr size_t kLongestWord = 32;
  std::string nearest;
  size_t least = std::max<size_t>(1, word.size() / 2) + 1;
  if (word.empty() || word.size() > kLongestWord) return nearest;
  for (const std::string& candidate : known) {
    const bool begins_so = candidate.rfind(word, 0) == 0;
    const size_t distance = begins_so ? 0 : EditDistance(word, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace jankbox
