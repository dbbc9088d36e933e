// The usual cost of messages of one kind, so that a report can say what was extra in the
// bad one. Learns from the healthy messages that are in each window that is sealed, and keeps a
// small random reservoir per kind. Sealing thread; allocates, bounded: 32 kinds, 16 messages each.
#ifndef JANKBOX_DIAGNOSIS_BLAME_HEALTHY_MESSAGES_H_
#define JANKBOX_DIAGNOSIS_BLAME_HEALTHY_MESSAGES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tracer/ring/ring_window.h"

namespace jankbox {

// Inclusive times of one message in ticks, by method; of a recursive method its outermost calls.
struct MessageProfile {
  std::string what;
  uint64_t begin_ticks = 0;
  uint64_t end_ticks = 0;
  std::map<uint32_t, uint64_t> methods;

  uint64_t ticks() const { return end_ticks - begin_ticks; }
};

// The whole messages of thread `tid` in `window`, oldest first: those without a gap, a cut or a
// nested one inside.
std::vector<MessageProfile> MessagesOf(const RingWindow& window, int32_t tid);

struct ExtraMethod {
  uint32_t id = 0;
  uint64_t extra_ticks = 0;  // beyond what is usual
  uint64_t usual_ticks = 0;  // in a healthy message, on average
};

struct Difference {
  uint64_t messages = 0;             // healthy ones that it rests on
  uint64_t median_ticks = 0;         // of their length
  std::vector<ExtraMethod> methods;  // the most extra first
};

class HealthyMessages {
 public:
  static constexpr size_t kMaxKinds = 32;
  static constexpr size_t kMaxMessages = 16;
  static constexpr size_t kMaxExtra = 8;
  static constexpr uint64_t kFewest = 3;  // fewer say nothing

  // Learns from those of `messages` that ended by `before_ticks`, took less than `healthy_ticks`,
  // and were not learnt already.
  void Learn(const std::vector<MessageProfile>& messages, uint64_t before_ticks,
             uint64_t healthy_ticks);

  // `bad` against the healthy ones of its kind. Empty if fewer than kFewest are known.
  Difference Compare(const MessageProfile& bad) const;

 private:
  struct Kind {
    uint64_t seen = 0;
    uint64_t learnt_until_ticks = 0;
    std::vector<MessageProfile> kept;
  };

  uint64_t Random();

  std::map<std::string, Kind> kinds_;
  uint64_t random_state_ = 0x9e3779b97f4a7c15;
};

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_BLAME_HEALTHY_MESSAGES_H_
