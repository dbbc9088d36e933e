// Which descriptors a wait waits for, in one word: a bit for each descriptor modulo 64. Of two
// programs' sets one may contain the other by chance; of the few that a loop waits for, hardly.
// HOT: NO-ALLOC, no system call.
#ifndef JANKBOX_MONITORS_LOOPER_DESCRIPTOR_SET_H_
#define JANKBOX_MONITORS_LOOPER_DESCRIPTOR_SET_H_

#include <sys/select.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace jankbox {

class DescriptorSet {
 public:
  constexpr DescriptorSet() = default;

  void Add(int fd) {
    if (fd >= 0) bits_ |= uint64_t{1} << (static_cast<unsigned>(fd) % 64);
  }
  // The first `count` of select()'s descriptors. `set` may be null.
  void AddAll(const fd_set* set, int count) {
    if (set == nullptr) return;
    for (int i = 0; i < std::min(count, int{FD_SETSIZE}); i += 64) {
      uint64_t word;
      memcpy(&word, reinterpret_cast<const char*>(set) + i / 8, sizeof(word));
      bits_ |= count - i < 64 ? word & ((uint64_t{1} << (count - i)) - 1) : word;
    }
  }

  bool empty() const { return bits_ == 0; }
  uint64_t bits() const { return bits_; }
  bool Contains(DescriptorSet other) const { return (other.bits_ & ~bits_) == 0; }
  DescriptorSet Common(DescriptorSet other) const {
    other.bits_ &= bits_;
    return other;
  }

 private:
  uint64_t bits_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_DESCRIPTOR_SET_H_
