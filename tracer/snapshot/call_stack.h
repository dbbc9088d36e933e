// The open calls of a thread, outermost first: a vector whose push and pop are inline whatever the
// compiler thinks of it, for they are done once an event. One thread; allocates as it grows.
#ifndef JANKBOX_TRACER_SNAPSHOT_CALL_STACK_H_
#define JANKBOX_TRACER_SNAPSHOT_CALL_STACK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tracer/ring/ring_window.h"

namespace jankbox {

struct StackedCall {
  EventRecord event;         // kNone: calls beyond what a chunk can list, `hidden` of them
  uint64_t begin_ticks = 0;  // never before the call around it
  uint32_t notes = 0;
  uint32_t hidden = 0;
};

class CallStack {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  StackedCall& operator[](size_t depth) { return calls_[depth]; }
  const StackedCall& operator[](size_t depth) const { return calls_[depth]; }
  StackedCall& back() { return calls_[size_ - 1]; }
  StackedCall* begin() { return calls_.data(); }
  StackedCall* end() { return calls_.data() + size_; }
  const StackedCall* begin() const { return calls_.data(); }
  const StackedCall* end() const { return calls_.data() + size_; }

  // The new call contains data of another: the caller assigns all of it.
  StackedCall& push() {
    if (__builtin_expect(size_ == calls_.size(), 0)) Grow();
    return calls_[size_++];
  }
  void pop() { --size_; }

 private:
  [[gnu::noinline]] void Grow() { calls_.resize(calls_.size() * 2 + 64); }

  std::vector<StackedCall> calls_;
  size_t size_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_CALL_STACK_H_
