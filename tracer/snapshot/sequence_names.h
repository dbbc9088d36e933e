// Names of methods and messages as interned names of the sequence that is being written. Looked up
// once an event: a flat hash table, no allocation but for a name's first use. One thread.
#ifndef JANKBOX_TRACER_SNAPSHOT_SEQUENCE_NAMES_H_
#define JANKBOX_TRACER_SNAPSHOT_SEQUENCE_NAMES_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracer/event/method_names.h"
#include "tracer/perfetto/event_sequence.h"

namespace jankbox {

class SequenceNames {
 public:
  // `names` may be null: no method then has a name.
  explicit SequenceNames(const MethodNames* names);

  // Later names go to `sequence`, which must be started before the first.
  void Use(EventSequence* sequence);

  // The iid of method `id`, or of `text`, in the current sequence.
  uint32_t OfMethod(uint32_t id) {
    Slot& slot = slots_[FindSlot(id)];
    return slot.number > base_ ? slot.number - base_ : AddMethod(id);
  }
  uint32_t OfText(const std::string& text);

  // "method #<id>" if it has no name.
  std::string MethodText(uint32_t id);

  // Distinct methods so far that have no name.
  uint64_t unnamed_methods() const { return unnamed_methods_; }

 private:
  struct Slot {
    uint32_t id = kFree;
    uint32_t number = 0;  // iid in the last sequence that used it, and that sequence's base_
  };
  static constexpr uint32_t kFree = UINT32_MAX;

  size_t FindSlot(uint32_t id) const {
    size_t at = (id * 2654435769u) >> shift_;
    while (slots_[at].id != id && slots_[at].id != kFree) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  // The slot of `id`, taken if it was free.
  Slot& TakeSlot(uint32_t id);
  void Grow();
  uint32_t AddMethod(uint32_t id);

  const MethodNames* names_;
  EventSequence* sequence_ = nullptr;
  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  uint32_t shift_;
  size_t used_ = 0;
  uint32_t base_ = 0;      // no name of an earlier sequence has a number above
  uint32_t last_iid_ = 0;  // of the current one
  uint64_t unnamed_methods_ = 0;
  std::unordered_map<std::string, uint32_t> text_iids_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_SEQUENCE_NAMES_H_
