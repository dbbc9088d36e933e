// The interfaces that binder calls were made of, for whoever can find out what their codes mean
// (the Java side, by reflection). A fixed table: if it is full, further ones are not noted,
// which is counted; calls of them are recorded all the same. Note(): HOT, LOCK-FREE, NO-ALLOC,
// SIGNAL-SAFE. One reader.
#ifndef JANKBOX_TRACER_INTERPOSE_BINDER_INTERFACES_H_
#define JANKBOX_TRACER_INTERPOSE_BINDER_INTERFACES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracer/event/binder_call.h"

namespace jankbox {

class BinderInterfaces {
 public:
  static constexpr size_t kSlots = 256;  // a power of two

  // Names are distinguished by their hash.
  static void Note(std::string_view name);

  // A name that was noted and not taken yet; "" if there is none. Valid permanently.
  static std::string_view Take();

  static uint64_t dropped() { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Slot {
    std::atomic<uint64_t> hash{0};
    std::atomic<uint32_t> bytes{0};  // 0 while `name` is being written
    bool taken = false;              // of the reader
    char name[kMaxInterfaceBytes] = {};
  };

  static Slot slots_[kSlots];
  static std::atomic<uint64_t> dropped_;
  static std::atomic<bool> news_;  // some slot may be not taken
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_BINDER_INTERFACES_H_
