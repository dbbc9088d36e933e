// The memory that a window's words are copied into: one mapping of large pages, given back at once
// when the window goes, or kept by its owner for the next window. One thread.
#ifndef JANKBOX_TRACER_RING_WINDOW_BUFFER_H_
#define JANKBOX_TRACER_RING_WINDOW_BUFFER_H_

#include <cstddef>
#include <cstdint>

namespace jankbox {

class WindowBuffer {
 public:
  WindowBuffer() = default;
  ~WindowBuffer();
  WindowBuffer(const WindowBuffer&) = delete;
  WindowBuffer& operator=(const WindowBuffer&) = delete;

  // Forgets what was taken and makes room for `words` words; false if there is no memory.
  bool Reset(size_t words);

  // The next `words` words, within what Reset() made room for.
  uint64_t* Take(size_t words) {
    uint64_t* at = words_ + taken_;
    taken_ += words;
    return at;
  }

 private:
  uint64_t* words_ = nullptr;
  size_t capacity_ = 0;
  size_t taken_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_WINDOW_BUFFER_H_
