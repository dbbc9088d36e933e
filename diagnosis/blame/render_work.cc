#include "diagnosis/blame/render_work.h"

#include <algorithm>
#include <string>

namespace jankbox {

std::string_view RenderWorkName(std::string_view method) {
  if (method.substr(0, kRenderPrefix.size()) != kRenderPrefix) return {};
  return method.substr(kRenderPrefix.size());
}

std::vector<CallItem> RenderWork(const std::vector<CallItem>& items, const MethodNames& names) {
  std::vector<CallItem> work;
  std::vector<uint64_t> callers;  // keys of the path to the item, itself included
  for (const CallItem& item : items) {
    callers.resize(item.depth);
    const bool within_itself = std::find(callers.begin(), callers.end(), item.key) != callers.end();
    callers.push_back(item.key);
    const std::string* name = names.Find(static_cast<uint32_t>(item.key));
    if (name == nullptr || RenderWorkName(*name).empty()) continue;
    auto known = std::find_if(work.begin(), work.end(),
                              [&](const CallItem& other) { return other.key == item.key; });
    if (known == work.end()) known = work.insert(known, {item.key, 0, 0, 0, false});
    known->count += item.count;
    known->weight += within_itself ? 0 : item.weight;
    known->open |= item.open;
  }
  return work;
}

}  // namespace jankbox
