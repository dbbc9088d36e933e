#include "tracer/interpose/fd_classes.h"

#include "tracer/sampling/fd_class.h"

namespace jankbox {

constinit std::atomic<uint8_t> FdClasses::epoch_{1};
constinit std::atomic<uint8_t> FdClasses::known_[kMaxDescriptors];

uint8_t FdClasses::Of(int fd) {
  if (fd < 0) return 0;
  const uint8_t epoch = epoch_.load(std::memory_order_relaxed);
  if (fd < kMaxDescriptors) {
    const uint8_t known = known_[fd].load(std::memory_order_relaxed);
    if (known >> 3 == epoch) return known & 7;
  }
  const auto asked = static_cast<uint8_t>(ClassifyFd(static_cast<uint32_t>(fd)));
  if (fd < kMaxDescriptors && asked != 0) {
    known_[fd].store(static_cast<uint8_t>(epoch << 3 | asked), std::memory_order_relaxed);
  }
  return asked;
}

void FdClasses::ForgetAll() {
  const uint8_t epoch = epoch_.load(std::memory_order_relaxed);
  epoch_.store(epoch == 31 ? 1 : static_cast<uint8_t>(epoch + 1), std::memory_order_relaxed);
}

}  // namespace jankbox
