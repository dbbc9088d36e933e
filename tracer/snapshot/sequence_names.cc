#include "tracer/snapshot/sequence_names.h"

#include <bit>

namespace jankbox {
namespace {

constexpr size_t kFirstSlots = 4096;

}  // namespace

SequenceNames::SequenceNames(const MethodNames* names)
    : names_(names), slots_(kFirstSlots), shift_(32 - std::countr_zero(kFirstSlots)) {}

void SequenceNames::Use(EventSequence* sequence) {
  sequence_ = sequence;
  base_ += last_iid_;
  last_iid_ = 0;
  text_iids_.clear();
}

uint32_t SequenceNames::OfText(const std::string& text) {
  auto [it, inserted] = text_iids_.try_emplace(text, 0);
  if (inserted) it->second = last_iid_ = sequence_->AddName(text);
  return it->second;
}

uint32_t SequenceNames::AddMethod(uint32_t id) {
  const std::string text = MethodText(id);
  Slot& slot = TakeSlot(id);
  last_iid_ = sequence_->AddName(text);
  slot.number = base_ + last_iid_;
  return last_iid_;
}

std::string SequenceNames::MethodText(uint32_t id) {
  const std::string* name = names_ != nullptr ? names_->Find(id) : nullptr;
  if (name != nullptr && !name->empty()) return *name;
  const size_t used_before = used_;
  TakeSlot(id);
  if (used_ > used_before) ++unnamed_methods_;
  return "method #" + std::to_string(id);
}

SequenceNames::Slot& SequenceNames::TakeSlot(uint32_t id) {
  size_t at = FindSlot(id);
  if (slots_[at].id == id) return slots_[at];
  if (++used_ * 2 > slots_.size()) {
    Grow();
    at = FindSlot(id);
  }
  slots_[at].id = id;
  return slots_[at];
}

void SequenceNames::Grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  --shift_;
  for (const Slot& slot : old) {
    if (slot.id != kFree) slots_[FindSlot(slot.id)] = slot;
  }
}

}  // namespace jankbox
