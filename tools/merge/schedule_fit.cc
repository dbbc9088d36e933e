#include <algorithm>
#include <unordered_map>

#include "tools/merge/clock_fit.h"

namespace jankbox::tools {
namespace {

constexpr size_t kMaxFittedEvents = 500;
constexpr size_t kMaxEdges = 8'000'000;
constexpr size_t kMinEvents = 8;
constexpr int64_t kSlackNs = 2'000;          // a switch's stamp and the thread's first instruction
constexpr int64_t kMaxRangeNs = 20'000'000;  // wider says too little

struct Run {
  int64_t from;
  int64_t to;
};

struct Edge {
  int64_t offset;
  int step;
};

std::unordered_map<int32_t, std::vector<Run>> RunsOf(const CaptureFacts& facts) {
  std::unordered_map<int32_t, std::vector<Run>> runs;
  std::unordered_map<int32_t, int64_t> on_since;
  for (const SwitchPoint& point : facts.switches) {
    const int64_t stamp = static_cast<int64_t>(point.stamp);
    if (point.kind == SwitchPoint::kOn) {
      on_since[point.tid] = stamp;
    } else if (point.kind == SwitchPoint::kWoken) {
      on_since.try_emplace(point.tid, stamp);
    } else if (const auto since = on_since.find(point.tid); since != on_since.end()) {
      runs[point.tid].push_back({since->second - kSlackNs, stamp + kSlackNs});
      on_since.erase(since);
    }
  }
  return runs;
}

struct Moment {
  int64_t ns;
  int64_t gap;  // to the neighbour on its thread
  int32_t tid;
};

// Events at both sides of the longest pauses of each thread say most about when it ran.
std::vector<Moment> TellingEvents(const AppTrace& app,
                                  const std::unordered_map<int32_t, std::vector<Run>>& runs) {
  std::unordered_map<int32_t, int64_t> last;
  std::vector<Moment> moments;
  for (const AppEvent& event : app.events) {
    const int32_t tid = app.tracks[event.track].tid;
    if (tid == 0 || !runs.contains(tid)) continue;
    const int64_t ns = static_cast<int64_t>(event.ts_ns);
    if (const auto before = last.find(tid); before != last.end() && ns > before->second) {
      moments.push_back({before->second, ns - before->second, tid});
      moments.push_back({ns, ns - before->second, tid});
    }
    last[tid] = ns;
  }
  std::stable_sort(moments.begin(), moments.end(),
                   [](const Moment& a, const Moment& b) { return a.gap > b.gap; });
  moments.resize(std::min(moments.size(), kMaxFittedEvents));
  return moments;
}

}  // namespace

bool FitSchedule(const AppTrace& app, const CaptureFacts& facts, int64_t near, uint64_t bound_ns,
                 OffsetRange* range) {
  const auto runs = RunsOf(facts);
  const std::vector<Moment> moments = TellingEvents(app, runs);
  const int64_t lowest = near - static_cast<int64_t>(bound_ns);
  const int64_t highest = near + static_cast<int64_t>(bound_ns);
  std::vector<Edge> edges;
  for (const Moment& moment : moments) {
    for (const Run& run : runs.at(moment.tid)) {
      const int64_t low = moment.ns - run.to, high = moment.ns - run.from;
      if (high < lowest || low > highest) continue;
      edges.push_back({low, 1});
      edges.push_back({high, -1});
      if (edges.size() > kMaxEdges) return false;
    }
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.step > b.step;
  });
  int covered = 0, best = 0;
  for (const Edge& edge : edges) best = std::max(best, covered += edge.step);
  if (static_cast<size_t>(best) < std::max(kMinEvents, moments.size() * 9 / 10)) return false;
  // All places that are as good, or miss one event: the truth may be in any of them.
  covered = 0;
  bool any = false;
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    covered += edges[i].step;
    if (covered < best - 1) continue;
    if (!any) range->low = edges[i].offset;
    any = true;
    range->high = edges[i + 1].offset;
  }
  range->events = static_cast<uint64_t>(best);
  return any && range->high - range->low < kMaxRangeNs;
}

}  // namespace jankbox::tools
