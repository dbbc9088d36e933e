#include "diagnosis/blame/blamed_stack.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>

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

// The functions of one sample, outermost first, and its address in each.
struct SampledPath {
  std::vector<uint64_t> numbers;
  std::vector<const ResolvedFrame*> frames;
};

SampledPath PathOf(const StackSample& sample, const FrameTable& frames, Nodes* nodes) {
  SampledPath path;
  for (uint32_t i = sample.depth; i > 0; --i) {
    const auto it = frames.find(sample.pcs[i - 1]);
    // The preload agent is between the program and its waits.
    if (it == frames.end() || IsJankbox(it->second.module)) continue;
    if (IsCalledByEntry(it->second.exported)) path = {};
    path.numbers.push_back(nodes->Intern(it->second, i == 1));
    path.frames.push_back(&it->second);
  }
  return path;
}

ReportFrame ToReport(const ResolvedFrame& frame) {
  return {frame.function, frame.module, frame.rel_pc, frame.build_id, frame.function_start};
}

struct Step {
  const Node* node;
  const ResolvedFrame* frame;
};
using Path = std::vector<Step>;  // innermost first

// What the sample counts for. The last one as much as the one before it.
uint64_t WeightOf(const std::vector<StackSample>& samples, size_t i, uint64_t most) {
  if (samples.size() < 2) return 1;
  i = std::min(i, samples.size() - 2);
  const uint64_t time = samples[i].time_ns, next = samples[i + 1].time_ns;
  return std::clamp<uint64_t>(next > time ? next - time : 0, 1, std::max<uint64_t>(most, 1));
}

// For how long the samples have which address of one function.
class FrameCounts {
 public:
  void Add(const ResolvedFrame* frame, uint64_t weight) {
    auto count = std::find_if(counts_.begin(), counts_.end(),
                              [frame](const auto& other) { return other.first == frame; });
    if (count == counts_.end()) count = counts_.insert(counts_.end(), {frame, 0});
    count->second += weight;
  }
  // The first of those that most have; `none` if there is none.
  const ResolvedFrame* Most(const ResolvedFrame* none) const {
    const auto most = std::max_element(
        counts_.begin(), counts_.end(),
        [](const auto& one, const auto& other) { return one.second < other.second; });
    return most == counts_.end() ? none : most->first;
  }

 private:
  std::vector<std::pair<const ResolvedFrame*, uint64_t>> counts_;
};

// The path of these functions (outermost first), each with the address that most of the samples
// which follow it have there: one address of a function may be in code that is inlined into it and
// seldom runs.
Path FollowPath(const std::vector<uint64_t>& numbers, const std::vector<StackSample>& samples,
                const FrameTable& frames, uint64_t most, Nodes* nodes) {
  std::vector<FrameCounts> counts(numbers.size());
  for (size_t at = 0; at < samples.size(); ++at) {
    const SampledPath path = PathOf(samples[at], frames, nodes);
    const uint64_t weight = WeightOf(samples, at, most);
    const auto end =
        std::mismatch(numbers.begin(), numbers.end(), path.numbers.begin(), path.numbers.end());
    const size_t followed = static_cast<size_t>(end.first - numbers.begin());
    for (size_t i = 0; i < followed; ++i) {
      if (i + 1 < followed || followed == numbers.size()) {
        counts[i].Add(path.frames[i], weight);
      }
    }
  }
  Path path;
  for (size_t i = numbers.size(); i-- > 0;) {
    const Node& node = (*nodes)[numbers[i]];
    path.push_back({&node, counts[i].Most(node.frame)});
  }
  return path;
}

// Without the functions that started the thread.
std::vector<ReportFrame> FramesOf(const Path& path) {
  size_t end = path.size();
  while (end > 1 && IsCLibrary(path[end - 1].frame->module)) --end;
  std::vector<ReportFrame> frames;
  for (size_t i = 0; i < end; ++i) {
    const ResolvedFrame& frame = *path[i].frame;
    if (IsProcessEntry(frame.function)) continue;
    frames.push_back(ToReport(frame));
  }
  return frames;
}

bool IsOwn(const Step& step) {
  const ResolvedFrame& frame = *step.frame;
  const bool nameless_jit = frame.module.empty() && frame.function.empty();
  return !step.node->passed_over && !nameless_jit && !IsPassedOver(frame.module, frame.function);
}

// The nearest caller in its module of the function at `at`, with a name: the part of the library's
// interface that it serves. Null if there is none.
const ResolvedFrame* NamedCaller(const Path& path, size_t at) {
  const std::string& module = path[at].frame->module;
  for (size_t i = at; i < path.size() && path[i].frame->module == module; ++i) {
    if (!path[i].frame->function.empty()) return path[i].frame;
  }
  return nullptr;
}

// The numbers of the app's own functions on `path`. A function without a name that serves one that
// is passed over is one of them only if there is no other.
std::vector<size_t> OwnOf(const Path& path) {
  std::vector<size_t> own, doubtful;
  for (size_t i = 0; i < path.size(); ++i) {
    if (!IsOwn(path[i])) continue;
    const ResolvedFrame* named = NamedCaller(path, i);
    const bool serves = named != nullptr && IsPassedOver(named->module, named->function);
    (serves ? doubtful : own).push_back(i);
  }
  return own.empty() ? doubtful : own;
}

std::string WhereOf(const Path& path) {
  const std::vector<size_t> own = OwnOf(path);
  if (own.empty()) return "";
  const ResolvedFrame& frame = *path[own[0]].frame;
  if (!frame.function.empty()) return frame.function;
  const std::string text =
      At(frame.module, frame.function_start != 0 ? frame.function_start : frame.rel_pc);
  const ResolvedFrame* named = NamedCaller(path, own[0]);
  if (named == nullptr || IsPassedOver(named->module, named->function)) return text;
  return named->function + " > " + text;
}

}  // namespace

BlamedStack FindBlamedStack(const std::vector<StackSample>& samples, const FrameTable& frames,
                            uint64_t most) {
  CallTree tree;
  Nodes nodes;
  for (size_t i = 0; i < samples.size(); ++i) {
    const SampledPath path = PathOf(samples[i], frames, &nodes);
    if (!path.numbers.empty()) tree.AddPath(path.numbers, WeightOf(samples, i, most));
  }
  BlamedStack blamed;
  const Path heaviest = FollowPath(tree.BlamedPath(), samples, frames, most, &nodes);
  blamed.frames = FramesOf(heaviest);
  blamed.where = WhereOf(heaviest);
  const Path sure = FollowPath(tree.BlamedPath(kSureShare), samples, frames, most, &nodes);
  for (const Step& step : sure) {
    if (!step.node->passed_over && !step.node->key.empty()) {
      blamed.key_path.push_back(step.node->key);
    }
  }
  for (const size_t i : OwnOf(sure)) blamed.own.push_back(ToReport(*sure[i].frame));
  std::reverse(blamed.key_path.begin(), blamed.key_path.end());
  return blamed;
}

}  // namespace jankbox
