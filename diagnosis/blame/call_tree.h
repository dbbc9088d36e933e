// Weighted call paths of one incident, merged into a tree, and the path that carries the blame:
// from the root, at each step the heaviest child, as long as it has at least 30 % of the whole
// (Matrix' stack key). Calls of one method by one caller are one node, however often it was called.
// Fed with sampled stacks or with the ring's begins and ends, whose losses it repairs and counts.
// Weights are 64 bits wide: ns or ticks. Sealing thread; allocates, bounded by kMaxNodes.
#ifndef JANKBOX_DIAGNOSIS_BLAME_CALL_TREE_H_
#define JANKBOX_DIAGNOSIS_BLAME_CALL_TREE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace jankbox {

// One node of a tree, as a line of its listing.
struct CallItem {
  uint64_t key = 0;
  uint32_t depth = 0;   // 0: the caller is unknown
  uint32_t count = 0;   // calls, or samples
  uint64_t weight = 0;  // of the calls and all that they called
  bool open = false;    // one of them had not ended yet
  bool operator==(const CallItem&) const = default;
};

class CallTree {
 public:
  static constexpr size_t kMaxNodes = 100'000;
  static constexpr double kBlameShare = 0.3;

  // Adds `weight` to the path of keys, outermost first.
  void AddPath(const std::vector<uint64_t>& outermost_first, uint64_t weight);

  // Time-ordered calls instead: Enter and Leave nest; time between two of them belongs to the calls
  // open then. A Leave without its Enter is passed over; one for an outer call leaves the inner
  // ones too, whose own ends were lost.
  void Enter(uint64_t key, uint64_t time);
  void Leave(uint64_t key, uint64_t time);
  // The window ends, or events are missing: what is open now never ended. What follows may begin at
  // any moment.
  void LeaveAll(uint64_t time);

  // Keys of the blamed path, outermost first; empty for an empty tree.
  std::vector<uint64_t> BlamedPath(double least_share = kBlameShare) const;

  // Every node, callers before what they called, in the order of their first calls.
  std::vector<CallItem> Items() const;

  uint64_t total_weight() const { return nodes_[0].weight; }
  uint64_t unmatched_leaves() const { return unmatched_leaves_; }
  uint64_t repaired_calls() const { return repaired_calls_; }

 private:
  struct Node {
    uint64_t key = 0;
    uint64_t weight = 0;
    uint32_t count = 0;
    bool open = false;
    std::map<uint64_t, uint32_t> children;
  };
  struct OpenCall {
    uint64_t key;
    uint32_t node;
  };

  uint32_t Child(uint32_t node, uint64_t key);
  void Charge(uint64_t time);

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::vector<OpenCall> open_;
  uint64_t last_time_ = 0;
  uint64_t unmatched_leaves_ = 0;
  uint64_t repaired_calls_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_BLAME_CALL_TREE_H_
