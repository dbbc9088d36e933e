#include "bench/snapshot_encode/workload.h"

#include <algorithm>
#include <array>
#include <random>

namespace jankbox::bench {
namespace {

constexpr uint32_t kEvents = 1'000'000;
constexpr uint32_t kNames = 2000;
constexpr uint32_t kCallees = 6;
constexpr uint32_t kMaxDepth = 23;
constexpr double kUsualDepth = 10;
constexpr uint64_t kStartNs = 123'456'789'000'000;  // 34 hours after boot

using Random = std::mt19937_64;

uint32_t Below(Random* random, uint32_t limit) {
  return std::uniform_int_distribution<uint32_t>(0, limit - 1)(*random);
}

std::string MakeName(Random* random, uint32_t index) {
  static constexpr std::array<const char*, 10> kWords = {"layout",  "Window", "render", "Paint",
                                                         "Message", "update", "Cache",  "Model",
                                                         "view",    "Handler"};
  std::string name = "app::";
  const size_t length = 30 + Below(random, 20);
  while (name.size() < length) name += kWords[Below(random, kWords.size())];
  return name + "::" + std::to_string(index);
}

// A method always calls the same few others, the first of them most often.
class CallTree {
 public:
  explicit CallTree(Random* random) : callees_(kNames) {
    for (auto& callees : callees_) {
      for (uint32_t& callee : callees) callee = Below(random, kNames);
    }
  }
  uint32_t CalleeOf(uint32_t method, Random* random) const {
    return callees_[method][std::min(Below(random, kCallees), Below(random, kCallees))];
  }

 private:
  std::vector<std::array<uint32_t, kCallees>> callees_;
};

WorkloadThread MakeThread(const CallTree& tree, int32_t tid, uint32_t events, Random* random) {
  WorkloadThread thread{tid, {}};
  std::lognormal_distribution<double> gap_ns(6.3, 1.6);
  std::uniform_real_distribution<double> chance(0, 1);
  std::vector<uint32_t> open;
  uint64_t now_ns = kStartNs;
  while (thread.events.size() < events) {
    const auto depth = static_cast<uint32_t>(open.size());
    const bool must_end = events - thread.events.size() <= depth || depth == kMaxDepth;
    const double begins = 0.5 + (kUsualDepth - depth) * 0.05;
    const bool begin = depth == 0 || (!must_end && chance(*random) < begins);
    if (begin) open.push_back(depth == 0 ? Below(random, 40) : tree.CalleeOf(open.back(), random));
    thread.events.push_back({now_ns, open.back(), begin});
    if (!begin) open.pop_back();
    now_ns += 20 + static_cast<uint64_t>(gap_ns(*random));
  }
  return thread;
}

}  // namespace

uint64_t Workload::events() const {
  uint64_t count = 0;
  for (const WorkloadThread& thread : threads) count += thread.events.size();
  return count;
}

uint64_t Workload::slices() const {
  uint64_t count = 0;
  for (const WorkloadThread& thread : threads) {
    for (const WorkloadEvent& event : thread.events) count += event.begin ? 1 : 0;
  }
  return count;
}

Workload MakeWorkload() {
  Random random(20);
  Workload workload;
  workload.pid = 4321;
  for (uint32_t i = 0; i < kNames; ++i) workload.names.push_back(MakeName(&random, i));
  const CallTree tree(&random);
  int32_t tid = workload.pid;
  for (uint32_t percent : {70, 15, 10, 5}) {
    workload.threads.push_back(MakeThread(tree, tid++, kEvents / 100 * percent, &random));
  }
  return workload;
}

}  // namespace jankbox::bench
