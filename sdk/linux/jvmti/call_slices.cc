#include "sdk/linux/jvmti/call_slices.h"

#include "jankbox/jankbox.h"

namespace jankbox {

void CallSlices::EndDownTo(size_t left) {
  while (open_.size() > left) {
    jankbox_end(open_.back());
    open_.pop_back();
  }
}

void CallSlices::Show(const SampledCalls::Stack& stack, const NameOf& name_of) {
  std::vector<uint32_t> wanted;
  for (const JavaCall& call : stack) {
    const auto [known, added] = ids_.try_emplace(call.method, 0);
    if (added) known->second = jankbox_method_id(name_of(call).c_str());
    wanted.push_back(known->second);
  }
  size_t depth = 0;
  while (depth < open_.size() && depth < wanted.size() && open_[depth] == wanted[depth]) ++depth;
  EndDownTo(depth);
  for (; depth < wanted.size(); ++depth) {
    jankbox_begin(wanted[depth]);
    open_.push_back(wanted[depth]);
  }
}

}  // namespace jankbox
