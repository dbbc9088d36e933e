// Walks the words of a chunk backwards and stops at the begins that no later end can have closed,
// if every end closes the innermost open call. Checks eight words at a time. For OpenCallStack.
#ifndef JANKBOX_TRACER_RING_NESTING_SCAN_H_
#define JANKBOX_TRACER_RING_NESTING_SCAN_H_

#include <cstdint>

#include "tracer/event/event.h"

namespace jankbox {

// What of a begin's or an end's word must agree between the two: the id of a method, where it
// stands in the word; 0 of a dispatch, whose word carries the length of its name there.
inline constexpr uint32_t kBeginOrEndBits = kMaxMethodId << 4;
uint32_t BeginOrEndBits(uint64_t word);

class NestingScan {
 public:
  explicit NestingScan(const uint64_t* end) : at_(end) {}

  // The next open begin before the last one, not before `first`; null if there is none left.
  const uint64_t* NextOpenBegin(const uint64_t* first);

  // Once NextOpenBegin() has returned null: ends that closed what was open at `first` already, …
  uint32_t unmatched_ends() const { return static_cast<uint32_t>(record_ - excess_); }
  // … BeginOrEndBits() of all begins less those of all ends, in those bits, …
  uint32_t id_sum() const { return id_sum_ & kBeginOrEndBits; }
  // … and whether the words include a rebase, so that moments do not count from the chunk's base
  // alone.
  bool saw_rebase() const { return saw_rebase_; }

 private:
  void Skip(const uint64_t* first);
#if defined(__x86_64__)
  void SkipAvx2(const uint64_t* first);
#endif

  const uint64_t* at_;  // words from here on have been checked
  int32_t excess_ = 0;  // begins less ends of those
  int32_t record_ = 0;  // the largest excess met: begins returned so far
  uint32_t id_sum_ = 0;
  bool saw_rebase_ = false;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_NESTING_SCAN_H_
