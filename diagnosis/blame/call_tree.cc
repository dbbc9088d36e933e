#include "diagnosis/blame/call_tree.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace jankbox {

uint32_t CallTree::Child(uint32_t node, uint64_t key) {
  auto it = nodes_[node].children.find(key);
  if (it != nodes_[node].children.end()) return it->second;
  if (nodes_.size() >= kMaxNodes) return node;  // what goes deeper is charged to the caller
  const uint32_t child = static_cast<uint32_t>(nodes_.size());
  nodes_[node].children.emplace(key, child);
  nodes_.emplace_back().key = key;
  return child;
}

void CallTree::AddPath(const std::vector<uint64_t>& outermost_first, uint64_t weight) {
  uint32_t node = 0;
  nodes_[0].weight += weight;
  for (uint64_t key : outermost_first) {
    const uint32_t child = Child(node, key);
    if (child == node) return;
    node = child;
    nodes_[node].weight += weight;
    ++nodes_[node].count;
  }
}

void CallTree::Charge(uint64_t time) {
  if (!open_.empty() && time > last_time_) {
    const uint64_t weight = time - last_time_;
    nodes_[0].weight += weight;
    uint32_t charged = 0;
    for (const OpenCall& call : open_) {
      if (call.node != charged) nodes_[call.node].weight += weight;
      charged = call.node;
    }
  }
  last_time_ = std::max(last_time_, time);
}

void CallTree::Enter(uint64_t key, uint64_t time) {
  Charge(time);
  const uint32_t caller = open_.empty() ? 0 : open_.back().node;
  const uint32_t node = Child(caller, key);
  if (node != caller) ++nodes_[node].count;
  open_.push_back({key, node});
}

void CallTree::Leave(uint64_t key, uint64_t time) {
  auto match = std::find_if(open_.rbegin(), open_.rend(),
                            [key](const OpenCall& call) { return call.key == key; });
  if (match == open_.rend()) {
    ++unmatched_leaves_;
    return;
  }
  Charge(time);
  repaired_calls_ += static_cast<uint64_t>(match - open_.rbegin());
  open_.erase(match.base() - 1, open_.end());
}

void CallTree::LeaveAll(uint64_t time) {
  Charge(time);
  for (const OpenCall& call : open_) nodes_[call.node].open = call.node != 0;
  open_.clear();
  last_time_ = 0;  // what follows may be another thread's calls, from an earlier moment on
}

std::vector<CallItem> CallTree::Items() const {
  std::vector<CallItem> items;
  // (node, depth) still to be listed, the next one last. A node's number says when it was first
  // called.
  std::vector<std::pair<uint32_t, uint32_t>> pending = {{0, 0}};
  while (!pending.empty()) {
    const auto [number, depth] = pending.back();
    pending.pop_back();
    const Node& node = nodes_[number];
    if (number != 0) items.push_back({node.key, depth - 1, node.count, node.weight, node.open});
    const size_t first = pending.size();
    for (const auto& [key, child] : node.children) pending.emplace_back(child, depth + 1);
    std::sort(pending.begin() + static_cast<ptrdiff_t>(first), pending.end(), std::greater<>());
  }
  return items;
}

std::vector<uint64_t> CallTree::BlamedPath(double least_share) const {
  std::vector<uint64_t> path;
  const double least = static_cast<double>(total_weight()) * least_share;
  uint32_t node = 0;
  while (true) {
    const auto& children = nodes_[node].children;
    auto heaviest =
        std::max_element(children.begin(), children.end(), [this](const auto& a, const auto& b) {
          return nodes_[a.second].weight < nodes_[b.second].weight;
        });
    if (heaviest == children.end()) return path;
    const uint64_t weight = nodes_[heaviest->second].weight;
    if (weight == 0 || static_cast<double>(weight) < least) return path;
    path.push_back(heaviest->first);
    node = heaviest->second;
  }
}

}  // namespace jankbox
