#include <algorithm>

#include "tools/merge/app_marks.h"
#include "tools/merge/clock_fit.h"

namespace jankbox::tools {
namespace {

constexpr size_t kMaxCandidates = 4'000'000;
// Pairs of the same moment agree within this: a write that was preempted, clocks that drift.
constexpr int64_t kWindowNs = 500'000;
constexpr size_t kMinPairs = 3;

int64_t PairOffset(const ClockPair& pair) {
  return static_cast<int64_t>(pair.boottime_ns - pair.stamp);
}

// Every pair of marks that say the same; the rarest texts first, as long as there is room.
std::vector<ClockPair> Candidates(const AppTrace& app, const CaptureFacts& facts) {
  const auto app_marks = AppMarks(app, facts);
  std::map<MarkKey, std::vector<uint64_t>> stamps;
  for (const KernelMark& mark : facts.marks) {
    const MarkKey key = KeyOf(mark);
    if (app_marks.contains(key)) stamps[key].push_back(mark.stamp);
  }
  std::vector<std::pair<size_t, MarkKey>> by_count;
  for (const auto& [key, times] : stamps) {
    by_count.push_back({times.size() * app_marks.at(key).size(), key});
  }
  std::sort(by_count.begin(), by_count.end());
  std::vector<ClockPair> candidates;
  for (const auto& [count, key] : by_count) {
    if (candidates.size() + count > kMaxCandidates) break;
    for (const uint64_t stamp : stamps[key]) {
      for (const uint64_t ns : app_marks.at(key)) candidates.push_back({stamp, ns, true});
    }
  }
  return candidates;
}

}  // namespace

std::vector<ClockPair> VoteForPairs(const AppTrace& app, const CaptureFacts& facts) {
  std::vector<ClockPair> candidates = Candidates(app, facts);
  std::sort(candidates.begin(), candidates.end(),
            [](const ClockPair& a, const ClockPair& b) { return PairOffset(a) < PairOffset(b); });
  size_t best_from = 0, best_to = 0;
  for (size_t from = 0, to = 0; from < candidates.size(); ++from) {
    while (to < candidates.size() &&
           PairOffset(candidates[to]) - PairOffset(candidates[from]) <= kWindowNs) {
      ++to;
    }
    if (to - from > best_to - best_from) {
      best_from = from;
      best_to = to;
    }
  }
  const size_t votes = best_to - best_from;
  // One or two count if there is hardly anything else that they could mean.
  if (votes < kMinPairs && candidates.size() > votes * 2) return {};
  return {candidates.begin() + static_cast<int64_t>(best_from),
          candidates.begin() + static_cast<int64_t>(best_to)};
}

}  // namespace jankbox::tools
