#include "tracer/interpose/creation_stack.h"

#include "tracer/unwind/safe_memory.h"

namespace jankbox {
namespace {

constinit CreationStack g_places[CreationStacks::kPlaces];
std::atomic<int32_t> g_allowed{0};
std::atomic<uint64_t> g_dropped{0};

CreationStack* TakePlace() {
  if (g_allowed.fetch_sub(1, std::memory_order_relaxed) <= 0) return nullptr;
  for (CreationStack& place : g_places) {
    // Pairs with Release(): its last reader is done.
    if (!place.taken.exchange(true, std::memory_order_acquire)) return &place;
  }
  return nullptr;
}

}  // namespace

CreationStack* CreationStacks::Copy(const Registers& registers, const void* return_address) {
  if (!registers.Known(machine::kStackPointer)) return nullptr;
  CreationStack* stack = TakePlace();
  if (stack == nullptr) {
    g_dropped.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  stack->registers = registers;
  stack->return_address = return_address;
  // Short if the stack ends; never a fault.
  stack->size =
      ReadOwnMemory(registers.Get(machine::kStackPointer), stack->bytes, CreationStack::kBytes);
  return stack;
}

void CreationStacks::Allow(int32_t count) { g_allowed.store(count, std::memory_order_relaxed); }

uint64_t CreationStacks::TakeDropped() { return g_dropped.exchange(0, std::memory_order_relaxed); }

}  // namespace jankbox
