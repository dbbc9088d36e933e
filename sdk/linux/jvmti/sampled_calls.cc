#include "sdk/linux/jvmti/sampled_calls.h"

#include <utility>

namespace jankbox {
namespace {

using Group = std::vector<const SampledCalls::Stack*>;

// The largest group of `stacks` that call the same method at that depth; empty if none is so deep.
Group MostAt(const Group& stacks, size_t depth) {
  std::unordered_map<void*, Group> groups;
  const Group* most = nullptr;
  for (const SampledCalls::Stack* stack : stacks) {
    if (depth >= stack->size()) continue;
    Group& group = groups[(*stack)[depth].method];
    group.push_back(stack);
    if (most == nullptr || group.size() > most->size()) most = &group;
  }
  return most != nullptr ? *most : Group();
}

}  // namespace

void SampledCalls::Add(Stack stack, const std::string& wait) {
  if (!wait.empty()) ++waits_[wait];
  if (taken_++ % stride_ != 0) return;
  kept_.push_back(std::move(stack));
  if (kept_.size() < kMaxKept) return;
  for (size_t i = 0; i < kMaxKept / 2; ++i) kept_[i] = std::move(kept_[2 * i]);
  kept_.resize(kMaxKept / 2);
  stride_ *= 2;
}

SampledCalls::Path SampledCalls::Blamed() const {
  Group under;
  for (const Stack& stack : kept_) under.push_back(&stack);
  Path path;
  while (true) {
    Group most = MostAt(under, path.calls.size());
    if (most.empty() || 2 * most.size() < kept_.size()) break;
    path.calls.push_back((*most.back())[path.calls.size()]);
    under = std::move(most);
  }
  path.seen = under.size();
  return path;
}

std::string SampledCalls::Wait() const {
  for (const auto& [wait, count] : waits_) {
    if (2 * count <= taken_) continue;
    return wait + ", in " + std::to_string(count) + " of " + std::to_string(taken_) + " samples";
  }
  return "";
}

}  // namespace jankbox
