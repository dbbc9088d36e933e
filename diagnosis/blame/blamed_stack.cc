#include "diagnosis/blame/blamed_stack.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <string_view>

#include "diagnosis/blame/call_tree.h"
#include "diagnosis/blame/passed_over.h"
#include "tracer/unwind/shown_stack.h"

namespace jankbox {
namespace {

// A sampled path names its cause as far as this share of the samples goes: what is deeper changes
// from run to run, with a few samples more or less.
constexpr double kSureShare = 0.7;

std::string At(std::string_view code, uint64_t address) {
  char offset[24];
  snprintf(offset, sizeof(offset), "+0x%" PRIx64, address);
  return std::string(code) + offset;
}

// A function, or as much as is known of it.
struct Node {
  const ResolvedFrame* frame = nullptr;  // the first that was seen
  std::string key;                       // its part of the key; empty: it has none
  bool passed_over = false;              // by what strip leaves
};

// Build id and start of the function. Without an unwind table the call: a leaf is then known by its
// caller only. Of JIT code the name, since its addresses are others in each run.
std::string KeyOf(const ResolvedFrame& frame, bool is_leaf) {
  if (frame.module.empty()) return frame.function;
  const std::string& code = !frame.build_id.empty()   ? frame.build_id
                            : !frame.text_key.empty() ? frame.text_key
                                                      : frame.module;
  if (frame.function_start != 0) return At(code, frame.function_start);
  return is_leaf ? "" : At("call " + code, frame.rel_pc);
}

// Interns frames by function, so that two addresses of one function are one node of the tree.
class Nodes {
 public:
  uint64_t Intern(const ResolvedFrame& frame, bool is_leaf) {
    const std::string key = KeyOf(frame, is_leaf);
    const auto [it, added] =
        numbers_.emplace(key.empty() ? "[" + frame.module + "]" : key, nodes_.size());
    if (added) nodes_.push_back({&frame, key, IsPassedOver(frame.module, frame.exported)});
    return it->second;
  }
  const Node& operator[](uint64_t number) const { return nodes_[number]; }

 private:
  std::map<std::string, uint64_t> numbers_;
  std::vector<Node> nodes_;
};

std::vector<uint64_t> PathOf(const StackSample& sample, const FrameTable& frames, Nodes* nodes) {
  std::vector<uint64_t> path;
  for (uint32_t i = sample.depth; i > 0; --i) {
    const auto it = frames.find(sample.pcs[i - 1]);
    // The preload agent is between the program and its waits.
    if (it == frames.end() || IsJankbox(it->second.module)) continue;
    if (IsCalledByEntry(it->second.exported)) path.clear();
    path.push_back(nodes->Intern(it->second, i == 1));
  }
  return path;
}

ReportFrame ToReport(const ResolvedFrame& frame) {
  return {frame.function, frame.module, frame.rel_pc, frame.build_id, frame.function_start};
}

using Path = std::vector<const Node*>;  // innermost first

// Without the functions that started the thread.
std::vector<ReportFrame> FramesOf(const Path& path) {
  size_t end = path.size();
  while (end > 1 && IsCLibrary(path[end - 1]->frame->module)) --end;
  std::vector<ReportFrame> frames;
  for (size_t i = 0; i < end; ++i) {
    const ResolvedFrame& frame = *path[i]->frame;
    if (IsProcessEntry(frame.function)) continue;
    frames.push_back(ToReport(frame));
  }
  return frames;
}

bool IsOwn(const Node& node) {
  const ResolvedFrame& frame = *node.frame;
  const bool nameless_jit = frame.module.empty() && frame.function.empty();
  return !node.passed_over && !nameless_jit && !IsPassedOver(frame.module, frame.function);
}

// The nearest caller in its module of the function at `at`, with a name: the part of the library's
// interface that it serves. Null if there is none.
const ResolvedFrame* NamedCaller(const Path& path, size_t at) {
  const std::string& module = path[at]->frame->module;
  for (size_t i = at; i < path.size() && path[i]->frame->module == module; ++i) {
    if (!path[i]->frame->function.empty()) return path[i]->frame;
  }
  return nullptr;
}

// The numbers of the app's own functions on `path`. A function without a name that serves one that
// is passed over is one of them only if there is no other.
std::vector<size_t> OwnOf(const Path& path) {
  std::vector<size_t> own, doubtful;
  for (size_t i = 0; i < path.size(); ++i) {
    if (!IsOwn(*path[i])) continue;
    const ResolvedFrame* named = NamedCaller(path, i);
    const bool serves = named != nullptr && IsPassedOver(named->module, named->function);
    (serves ? doubtful : own).push_back(i);
  }
  return own.empty() ? doubtful : own;
}

std::string WhereOf(const Path& path) {
  const std::vector<size_t> own = OwnOf(path);
  if (own.empty()) return "";
  const ResolvedFrame& frame = *path[own[0]]->frame;
  if (!frame.function.empty()) return frame.function;
  const std::string text =
      At(frame.module, frame.function_start != 0 ? frame.function_start : frame.rel_pc);
  const ResolvedFrame* named = NamedCaller(path, own[0]);
  if (named == nullptr || IsPassedOver(named->module, named->function)) return text;
  return named->function + " > " + text;
}

}  // namespace

BlamedStack FindBlamedStack(const std::vector<StackSample>& samples, const FrameTable& frames) {
  CallTree tree;
  Nodes nodes;
  for (const StackSample& sample : samples) {
    const std::vector<uint64_t> path = PathOf(sample, frames, &nodes);
    if (!path.empty()) tree.AddPath(path, 1);
  }
  const auto path_of = [&](double share) {
    Path path;
    for (uint64_t number : tree.BlamedPath(share)) path.push_back(&nodes[number]);
    std::reverse(path.begin(), path.end());
    return path;
  };
  BlamedStack blamed;
  const Path heaviest = path_of(CallTree::kBlameShare);
  blamed.frames = FramesOf(heaviest);
  blamed.where = WhereOf(heaviest);
  const Path sure = path_of(kSureShare);
  for (const Node* node : sure) {
    if (!node->passed_over && !node->key.empty()) blamed.key_path.push_back(node->key);
  }
  for (const size_t i : OwnOf(sure)) blamed.own.push_back(ToReport(*sure[i]->frame));
  std::reverse(blamed.key_path.begin(), blamed.key_path.end());
  return blamed;
}

}  // namespace jankbox
