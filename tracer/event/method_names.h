// Read side of the method names: what an id of the ring is called. Implemented over the live
// registry and over a ring file. Names by address (compiler instrumentation) are resolved by a
// symbolizer before this is asked.
#ifndef JANKBOX_TRACER_EVENT_METHOD_NAMES_H_
#define JANKBOX_TRACER_EVENT_METHOD_NAMES_H_

#include <cstdint>
#include <string>
#include <unordered_map>

namespace jankbox {

class MethodNames {
 public:
  void Set(uint32_t id, std::string name) { names_[id] = std::move(name); }
  // The name, or null if the id was never named.
  const std::string* Find(uint32_t id) const {
    auto it = names_.find(id);
    return it == names_.end() ? nullptr : &it->second;
  }
  // For people: "method #7" if the id was never named.
  std::string NameOf(uint32_t id) const {
    const std::string* name = Find(id);
    return name != nullptr ? *name : "method #" + std::to_string(id);
  }
  size_t size() const { return names_.size(); }
  auto begin() const { return names_.begin(); }
  auto end() const { return names_.end(); }

 private:
  std::unordered_map<uint32_t, std::string> names_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_EVENT_METHOD_NAMES_H_
